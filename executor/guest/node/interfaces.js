// SPDX-License-Identifier: Apache-2.0
/*
 * interfaces.js - os.networkInterfaces() in a box, which answers no netlink.  Node would throw, and development servers ask
 * at their start.
 *
 * Every Node of a box loads this file before its program (NODE_OPTIONS).
 */
'use strict';

const os = require('os');
const list = os.networkInterfaces;

function loopback() {
	const both = { mac: '00:00:00:00:00:00', internal: true };
	return {
		lo: [
			{ address: '127.0.0.1', netmask: '255.0.0.0', family: 'IPv4', ...both, cidr: '127.0.0.1/8' },
			{ address: '::1', netmask: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', family: 'IPv6', ...both, cidr: '::1/128', scopeid: 0 },
		],
	};
}

os.networkInterfaces = function networkInterfaces() {
	try {
		return list();
	} catch {
		return loopback();
	}
};
require('module').syncBuiltinESMExports();
