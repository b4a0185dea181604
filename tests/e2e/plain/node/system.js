// SPDX-License-Identifier: Apache-2.0
// Files, processes, threads, sockets and streams.
//: program files
const fs = require('fs')
fs.writeFileSync('a.txt', 'one\ntwo\n')
fs.appendFileSync('a.txt', 'three\n')
console.log(fs.readFileSync('a.txt', 'utf8').split('\n').length, fs.existsSync('b'), fs.statSync('a.txt').size, fs.statSync('a.txt').mode.toString(8))
fs.renameSync('a.txt', 'b.txt')
fs.copyFileSync('b.txt', 'c.txt')
fs.chmodSync('c.txt', 0o600)
console.log(fs.readdirSync('.').filter(name => name !== 'code.js'), fs.accessSync('c.txt', fs.constants.R_OK))
fs.unlinkSync('c.txt')
fs.readFileSync('missing')
//: program the program's file is not in the workspace
//: boxed \[\]
//: because the program is shown as a file without being an artifact of the run
console.log(require('fs').readdirSync('.'))
//: program the program reads itself
console.log(require('fs').readFileSync(__filename, 'utf8'))
//: program directories
const fs = require('fs'), path = require('path')
fs.mkdirSync('a/b/c', { recursive: true })
fs.writeFileSync('a/b/x', '1')
fs.symlinkSync('b/x', 'a/link')
console.log(fs.readdirSync('a', { recursive: true }).sort(), fs.readdirSync('a', { withFileTypes: true }).map(row => [row.name, row.isDirectory(), row.isSymbolicLink()]), fs.readlinkSync('a/link'), fs.realpathSync('a/link'))
fs.cpSync('a', 'd', { recursive: true })
fs.rmSync('a', { recursive: true })
console.log(fs.existsSync('a'), fs.existsSync('d/b/x'), path.resolve('x'), path.relative('/a/b', '/a/c'), path.parse('/x/y.tar.gz'), fs.mkdtempSync(require('os').tmpdir() + '/x-').startsWith(require('os').tmpdir()))
try { fs.rmdirSync('d') } catch (error) { console.log(error.code, error.message) }
//: program promises of files
const fs = require('fs/promises')
;(async () => {
  await fs.writeFile('a', 'text')
  const file = await fs.open('a', 'r+')
  console.log((await file.read(Buffer.alloc(2), 0, 2, 1)).buffer.toString(), (await file.stat()).size)
  await file.close()
  for await (const row of await fs.opendir('.')) if (row.name !== 'code.js') console.log(row.name)
  await fs.readFile('missing').catch(error => console.log(error.message))
  await fs.access('/root/x').catch(error => console.log(error.syscall))
})()
//: program callbacks of files
const fs = require('fs')
fs.writeFile('a', 'x', error => fs.readFile('a', 'utf8', (error, text) => console.log(error, text)))
fs.readFile('missing', error => { throw error })
//: program streams of files
const fs = require('fs'), { pipeline } = require('stream'), zlib = require('zlib')
fs.writeFileSync('a', 'line\n'.repeat(10000))
pipeline(fs.createReadStream('a'), zlib.createGzip(), fs.createWriteStream('a.gz'), error => {
  console.log(error, fs.statSync('a.gz').size < 1000, zlib.gunzipSync(fs.readFileSync('a.gz')).length)
})
//: program lines of a file
const fs = require('fs'), readline = require('readline')
fs.writeFileSync('a', 'x\ny\nz')
;(async () => { for await (const line of readline.createInterface({ input: fs.createReadStream('a') })) console.log(line) })()
//: program streams of its own
const { Readable, Transform, Writable, PassThrough } = require('stream'), { pipeline } = require('stream/promises')
const upper = new Transform({ transform (chunk, _, done) { done(null, chunk.toString().toUpperCase()) } })
pipeline(Readable.from(['a', 'b']), upper, async function * (source) { for await (const x of source) yield x + '!' }, new Writable({ write (chunk, _, done) { console.log(chunk.toString()); done() } })).then(() => console.log('done'))
new Response(new Blob(['web'])).text().then(console.log)
//: program fs.watch
//: boxed ENOSYS
//: because a watch on a file of /usr would tell of other boxes
const fs = require('fs')
const watcher = fs.watch('.', (kind, name) => { if (name === 'a') { console.log('changed', name); watcher.close() } })
setTimeout(() => fs.writeFileSync('a', 'x'), 20)
setTimeout(() => watcher.close(), 2000).unref()
//: program fs.watchFile
const fs = require('fs')
fs.writeFileSync('a', '')
fs.watchFile('a', { interval: 10 }, now => { console.log(now.size); fs.unwatchFile('a') })
setTimeout(() => fs.writeFileSync('a', 'xyz'), 30)
//: program child processes
const { execSync, spawnSync, execFile, exec, spawn } = require('child_process')
console.log(execSync('echo hi').toString(), spawnSync('sh', ['-c', 'cat; echo err >&2; exit 3'], { input: 'in', encoding: 'utf8' }).status)
execFile('echo', ['a b'], (error, out) => {
  console.log(error, out)
  exec('exit 2', error => {
    console.log(error.code, error.message)
    spawn('sh', ['-c', 'echo inherited; exit 4'], { stdio: 'inherit' }).on('close', (code, signal) => console.log(code, signal))
  })
})
//: program a child that fails
//: boxed <Buffer 77
//: because errors are shown as console.log() shows them
require('child_process').execSync('echo why >&2; exit 3', { stdio: 'pipe' })
//: program a child that does not exist
require('child_process').spawn('no-such-command').on('error', error => console.log(error.code, error.path))
//: program a child that is killed
const { spawn, exec } = require('child_process')
const child = spawn('sleep', ['9'])
child.on('exit', (code, signal) => {
  console.log(code, signal)
  exec('sleep 9', { timeout: 30 }, error => console.log(error.killed, error.signal))
})
child.kill()
//: program pipes between children
const { spawn } = require('child_process')
const first = spawn('printf', ['b\\na\\n']), second = spawn('sort')
first.stdout.pipe(second.stdin)
second.stdout.on('data', data => process.stdout.write(data))
//: program another node
const { execFileSync, spawnSync } = require('child_process')
console.log(execFileSync(process.execPath, ['-e', 'console.log(process.argv.length, process.execArgv)', 'x']).toString())
console.log(execFileSync('node', ['-p', '6 * 7']).toString(), spawnSync('node', ['-e', 'process.exit(5)']).status)
//: program fork of its own file
const { fork } = require('child_process')
if (process.send) {
  process.on('message', message => { process.send({ got: message, child: true }); process.disconnect() })
} else {
  const child = fork(__filename)
  child.on('message', message => console.log(message))
  child.on('exit', code => console.log('exit', code))
  child.send([1, 'two'])
}
//: program cluster
const cluster = require('cluster'), http = require('http')
if (cluster.isPrimary) {
  const worker = cluster.fork()
  worker.on('message', port => http.get({ port, host: '127.0.0.1' }, reply => { reply.on('data', data => console.log(data.toString())); reply.on('end', () => worker.kill()) }))
  cluster.on('exit', () => console.log('ended'))
} else {
  const server = http.createServer((_, reply) => reply.end('from the worker')).listen(0, '127.0.0.1', () => process.send(server.address().port))
}
//: program worker threads
const { Worker, isMainThread, parentPort, workerData, threadId } = require('worker_threads')
if (isMainThread) {
  const worker = new Worker(__filename, { workerData: { n: 20 } })
  worker.on('message', message => console.log(message, threadId))
  worker.on('exit', code => console.log('exit', code))
} else {
  parentPort.postMessage([workerData.n * 2, threadId])
}
//: program a worker of a text, shared memory and an error
const { Worker } = require('worker_threads')
const shared = new Int32Array(new SharedArrayBuffer(4))
new Worker('const { workerData } = require("worker_threads"); Atomics.add(workerData, 0, 5); throw new Error("in the worker")', { eval: true, workerData: shared })
  .on('error', error => console.log(error.message, shared[0]))
//: program a worker's output and exit code
const { Worker } = require('worker_threads')
new Worker('console.log("from a worker"); process.exit(3)', { eval: true }).on('exit', code => { console.log(code); process.exitCode = code })
//: program message channels and broadcast
const { MessageChannel, BroadcastChannel, receiveMessageOnPort } = require('worker_threads')
const { port1, port2 } = new MessageChannel()
port1.postMessage({ a: new Map([[1, 2]]) })
console.log(receiveMessageOnPort(port2))
const a = new BroadcastChannel('x'), b = new BroadcastChannel('x')
b.onmessage = event => { console.log(event.data); a.close(); b.close() }
a.postMessage('broadcast')
//: program an HTTP server and fetch
const http = require('http')
const server = http.createServer((request, reply) => {
  let body = ''
  request.on('data', part => { body += part }).on('end', () => { reply.writeHead(request.url === '/' ? 200 : 404, { 'X-A': 'b' }); reply.end(JSON.stringify({ method: request.method, body })) })
}).listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}/`
  const reply = await fetch(url, { method: 'POST', body: 'data' })
  console.log(reply.status, reply.headers.get('x-a'), await reply.json(), (await fetch(url + 'no')).ok)
  server.close()
  server.closeAllConnections()
})
//: program a server on localhost
const http = require('http')
const server = http.createServer((_, reply) => reply.end('ok')).listen(0, () => http.get(`http://localhost:${server.address().port}`, reply => { console.log(reply.statusCode, server.address().family); reply.resume(); server.close() }))
//: program fetch fails
fetch('http://127.0.0.1:1/').catch(error => console.log(error.message, error.cause.code))
//: program fetch fails and nobody handles it
//: ignore stderr
fetch('http://127.0.0.1:1/').then(reply => reply.json()).then(console.log)
//: program TCP and Unix sockets
const net = require('net')
const server = net.createServer(socket => socket.pipe(socket)).listen('s.sock', () => {
  const client = net.connect('s.sock', () => client.end('echo'))
  client.on('data', data => console.log(data.toString())).on('close', () => server.close())
})
net.connect(1, '127.0.0.1').on('error', error => console.log(error.message))
//: program a port that is in use
const net = require('net')
const server = net.createServer().listen(0, '127.0.0.1', () => net.createServer().listen(server.address().port, '127.0.0.1').on('error', error => { console.log(error.code); server.close() }))
//: program datagrams
const dgram = require('dgram')
const socket = dgram.createSocket('udp4').on('message', message => { console.log(message.toString()); socket.close() })
socket.bind(0, '127.0.0.1', () => socket.send('datagram', socket.address().port))
//: program names of hosts
const dns = require('dns')
dns.lookup('localhost', (error, address) => {
  console.log(error, address)
  dns.lookup('does-not-exist.invalid', error => console.log(error.syscall, error.hostname))
})
//: program the machine
const os = require('os')
console.log(os.EOL, os.platform(), os.tmpdir(), os.homedir(), os.endianness(), os.type(), os.availableParallelism() > 0, os.totalmem() > os.freemem(), os.devNull, os.loadavg().length, os.uptime() > 0, os.cpus().length > 0)
//: program its user
//: boxed sandbox
//: because a box has one user, which is nobody's on the host
console.log(require('os').userInfo().username)
//: program interfaces
console.log(Object.keys(require('os').networkInterfaces())[0])
//: program events
const { EventEmitter, once, on } = require('events')
const emitter = new EventEmitter()
emitter.once('a', (...x) => console.log(x)).on('b', function () { console.log(this === emitter) })
console.log(emitter.emit('a', 1, 2), emitter.emit('a'), emitter.emit('b'), emitter.eventNames())
once(emitter, 'c').then(console.log)
emitter.emit('c', 'value')
const target = new EventTarget()
target.addEventListener('x', event => console.log(event.type))
target.dispatchEvent(new Event('x'))
emitter.emit('error', new Error('unhandled'))
//: program abort signals
const controller = new AbortController()
require('timers/promises').setTimeout(1000, null, { signal: controller.signal }).catch(error => console.log(error.name, error.code))
controller.abort()
AbortSignal.timeout(5).addEventListener('abort', event => console.log(event.target.reason.name))
setTimeout(() => {}, 20)
//: program URLs
const url = new URL('https://user:p@ss@example.com:8080/a/../b?x=1&y=ä#h')
console.log(url.href, url.searchParams.get('y'), url.origin, require('querystring').parse('a=1&a=2'), require('url').pathToFileURL('/a b').href)
try { new URL('x') } catch (error) { console.log(error.code, error.message) }
//: program crypto
const crypto = require('crypto')
console.log(crypto.createHash('sha256').update('x').digest('hex'), crypto.createHmac('md5', 'k').update('m').digest('base64'), crypto.randomBytes(4).length, crypto.randomUUID().length, crypto.getHashes().length > 10)
const key = crypto.scryptSync('p', 's', 32), cipher = crypto.createCipheriv('aes-256-gcm', key, Buffer.alloc(12))
console.log(cipher.update('text', 'utf8', 'hex') + cipher.final('hex'), cipher.getAuthTag().toString('hex'), crypto.pbkdf2Sync('p', 's', 1, 8, 'sha1').toString('hex'))
const { publicKey, privateKey } = crypto.generateKeyPairSync('ed25519')
console.log(crypto.verify(null, Buffer.from('m'), publicKey, crypto.sign(null, Buffer.from('m'), privateKey)))
globalThis.crypto.subtle.digest('SHA-1', Buffer.from('x')).then(digest => console.log(Buffer.from(digest).toString('hex')))
//: program zlib and buffers
const zlib = require('zlib')
console.log(zlib.inflateSync(zlib.deflateSync('x')).toString(), zlib.brotliDecompressSync(zlib.brotliCompressSync('b')).toString(), Buffer.from('é').toString('latin1'), Buffer.concat([Buffer.from([1]), Buffer.from('ff', 'hex')]), Buffer.from('aGk', 'base64').toString(), new TextDecoder().decode(new TextEncoder().encode('ü')))
zlib.gunzipSync(Buffer.from('no'))
//: program tests that pass
const test = require('node:test'), assert = require('assert')
test('adds', () => assert.equal(1 + 1, 2))
test('waits', async () => { await null })
//: program tests that fail
//: ignore stdout
const { describe, it } = require('node:test'), assert = require('assert')
describe('group', () => { it('fails', () => assert.equal(1, 2)); it.skip('skipped', () => {}) })
//: program bytes on stdout
process.stdout.write(Buffer.from([0x61, 0x0a]))
process.stdout.write('callback\n', () => console.log('written'))
require('fs').writeSync(1, 'direct\n')
require('fs').writeSync(2, 'err\n')
//: program events of stdout
process.stdout.on('error', () => {})
console.log(process.stdout.writable, process.stdout.writableLength, process.stdout.fd, process.stdout._type, process.stderr._type, process.stdin.fd)
process.stdout.end
//: program SQLite of Python's and node's own
console.log(require('module').isBuiltin('sqlite'), require('module').isBuiltin('test'), require('module').isBuiltin('node:test'))
