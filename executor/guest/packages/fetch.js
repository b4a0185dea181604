// SPDX-License-Identifier: Apache-2.0
// fetch.js i:REGISTRY | u: | r:NAME[@VERSION]... - has npm install the packages, and what they need, into /workspace/shown, a tree
// as of node_modules, and writes what it installed to /workspace/report. Runs in a box of its own, whose only network is
// that of the registry. npm checks each archive's digest; no script of a package is run.
'use strict';

const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const { meant } = require('/cloister/packages/names.js');

const ROOTS = '/etc/ssl/certs/ca-certificates.crt';
const AT = '/workspace/work';

function refuse(text) {
	process.stderr.write(text + '\n');
	process.exit(3);
}

function words(kind) {
	return process.argv.slice(2).filter((word) => word.startsWith(kind)).map((word) => word.slice(2));
}

// npm's own parser: a name with a version, a range or a tag. What else it reads (URLs, paths, git) is refused.
function check(npm, spec) {
	const parse = require(require.resolve('npm-package-arg', { paths: [path.dirname(npm), '/usr/share/nodejs'] }));
	let found;
	try {
		found = parse(spec);
	} catch (error) {
		refuse(`packages: '${spec}' is no package as in 'lodash@^4': ${error.message.split('\n')[0]}`);
	}
	if (!['version', 'range', 'tag'].includes(found.type) || !found.name || spec.startsWith('-'))
		refuse(`packages: '${spec}' is not a name, or a name and a version, as in 'lodash@^4'`);
	const known = words('u:').length > 0 ? undefined : meant(found.name);
	if (known !== undefined)
		refuse(`packages: did you mean ${known}? ${found.name} is one letter away from it. With unusual_names=true ${found.name} is installed.`);
	return found.name;
}

// What says the most: no field of the error, and for versions that exclude each other also who wants which.
function complaint(text) {
	const lines = text.split('\n').filter((line) => !/^npm warn /i.test(line)).map((line) => line.replace(/^npm (ERR!|error) */, ''))
		.filter((line) => line && !/^(code|syscall|errno|path|dest|A complete log) /.test(line));
	const why = lines[lines.indexOf('Could not resolve dependency:') + 1];
	const first = (lines[0] || 'npm failed').replace(/^(notarget|nospc|notsup|network) /, '');
	return why === lines[0] ? first : `${first}: ${why}`;
}

// For npm it is no error if a file of an archive cannot be written.
function lacking(text) {
	return /TAR_ENTRY_ERROR (E[A-Z]+: [^\n]*)/.exec(text)?.[1];
}

function install(npm, specs) {
	const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--omit=dev', '--loglevel=warn',
		'--fetch-retry-mintimeout=500', '--fetch-retry-maxtimeout=2000'];
	const env = { ...process.env, npm_config_cache: '/workspace/cache', npm_config_cafile: ROOTS, npm_config_userconfig: '/dev/null',
		HOME: AT, NODE_OPTIONS: '' };
	delete env.npm_config_globalconfig; // of programs that install packages themselves
	for (const registry of words('i:'))
		env.npm_config_registry = registry;
	fs.mkdirSync(AT);
	fs.writeFileSync(`${AT}/package.json`, '{}');
	const run = spawnSync(process.execPath, [npm, 'install', ...options, '--', ...specs], { cwd: AT, env, encoding: 'utf8' });
	const text = run.stderr || '';
	const why = lacking(text) ?? (run.status === 0 ? undefined : complaint(text));
	if (why === undefined)
		return;
	process.stderr.write(why + '\n');
	process.exit(1);
}

// One line for each package, those that were asked for first.
function report(names) {
	const { packages } = JSON.parse(fs.readFileSync(`${AT}/package-lock.json`, 'utf8'));
	const lines = Object.entries(packages).filter(([at]) => at && fs.existsSync(`${AT}/${at}`)).map(([at, { version, integrity }]) =>
		[at.replace(/^node_modules\//, '').replaceAll('/node_modules/', '>'), version, integrity || ''].join('\t'));
	const asked = (line) => names.includes(line.split('\t')[0]);
	fs.writeFileSync('/workspace/report', [...lines.filter(asked), ...lines.filter((line) => !asked(line))].join('\n') + '\n');
}

process.umask(0o022);
fs.chmodSync('/workspace', 0o711);
const npm = fs.realpathSync('/usr/bin/npm');
const specs = words('r:');
const names = specs.map((spec) => check(npm, spec));
install(npm, specs);
report(names);
fs.renameSync(`${AT}/node_modules`, '/workspace/shown');
fs.rmSync('/workspace/cache', { recursive: true, force: true });
fs.rmSync(AT, { recursive: true });
