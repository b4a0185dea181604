// SPDX-License-Identifier: Apache-2.0
/*
 * interfaces.js - what a box lacks for Node and npm.
 *
 * os.networkInterfaces(): a box answers no netlink.  Node would throw, and development servers ask at their start.
 *
 * The project of npm: the nearest directory above with package.json or node_modules.  In an empty workspace that would be /,
 * which has the packages of the session and is read-only.  So there npm is told to stay where it is.
 *
 * Every Node of a box loads this file before its program (NODE_OPTIONS).
 */
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
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

function isProject(directory) {
	return ['package.json', 'node_modules'].some((name) => fs.existsSync(path.join(directory, name)));
}

function keepNpmHere() {
	const here = process.cwd();
	let at = here;
	while (at !== '/' && !isProject(at))
		at = path.dirname(at);
	if (at === '/' && !['-g', '--global', '--location=global'].some((word) => process.argv.includes(word)))
		process.argv.splice(2, 0, `--prefix=${here}`);
}

if (/\/npm(-cli\.js)?$/.test(process.argv[1]))
	keepNpmHere();
