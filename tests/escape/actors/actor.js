// SPDX-License-Identifier: Apache-2.0
// Does what each line of the file `rows` says (name, action, words, with tabs between) and prints name and errno.
const fs = require('fs'), net = require('net'), dgram = require('dgram'), child = require('child_process');

const near = options => new Promise((ended, failed) => {
	const socket = net.connect(options, () => { socket.destroy(); ended(); });
	socket.on('error', failed);
});
const ask = (host, port) => new Promise((ended, failed) => {
	const socket = dgram.createSocket('udp4');
	socket.on('error', failed);
	socket.connect(Number(port), host, error => { socket.close(); error ? failed(error) : ended(); });
});
const look = path => { const fd = fs.openSync(path, 'r'); fs.readSync(fd, Buffer.alloc(64)); fs.closeSync(fd); };

const actions = {
	read: look,
	write: path => fs.closeSync(fs.openSync(path, fs.constants.O_WRONLY)),
	create: path => fs.closeSync(fs.openSync(path, 'wx')),
	list: path => fs.readdirSync(path),
	directory: path => fs.mkdirSync(path),
	remove: path => fs.unlinkSync(path),
	rename: (old, next) => fs.renameSync(old, next),
	link: (old, next) => fs.linkSync(old, next),
	via: (target, name) => { fs.symlinkSync(target, name); look(name); },
	mode: (mode, path) => fs.chmodSync(path, parseInt(mode, 8)),
	own: path => fs.chownSync(path, 0, 0),
	kill: pid => process.kill(Number(pid), 'SIGTERM'),
	tcp: (host, port) => near({ host, port: Number(port) }),
	udp: ask,
	unix: path => near({ path: path.replace('@', '\0') }),
	start: (program, ...words) => {
		const end = child.spawnSync(program, words, { stdio: 'ignore' });
		if (end.error) throw end.error;
		if (end.status !== 0) throw Object.assign(new Error(), { code: String(end.status) });
	},
	variable: name => { if (!(name in process.env)) throw Object.assign(new Error(), { code: 'ENOENT' }); },
};

(async () => {
	for (const row of fs.readFileSync('rows', 'ascii').trimEnd().split('\n')) {
		const [name, action, ...words] = row.split('\t');
		if (!actions[action]) continue;
		try {
			await actions[action](...words);
			console.log(name, 'done');
		} catch (error) {
			console.log(name, error.code);
		}
	}
})();
