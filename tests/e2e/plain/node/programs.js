// SPDX-License-Identifier: Apache-2.0
// The language, modules, errors and exit codes.
//: program console
console.log('text', 1, [1, 'two', { three: 3 }], null, undefined, -0, 10n, Symbol('s'), () => 1, class A {})
console.error('to stderr %s %d %j %o', 'x', 4.5, { a: 1 }, [1])
console.table([{ a: 1, b: 2 }])
console.group('group')
console.info('inside')
console.groupEnd()
console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 })
console.assert(1 === 2, 'wrong')
console.count()
console.warn(new Map([[1, new Set([2])]]), new Date(0), /x/g, new Error('x').message)
//: program util.inspect
const util = require('util')
class Point { #hidden = 1; constructor() { this.x = 1 } get y() { return 2 } }
console.log(util.inspect(new Point(), { showHidden: true }), new Proxy({}, {}), [1, , 3], Buffer.from('abc'), new Float32Array(2), Promise.resolve(1))
const loop = { name: 'loop' }
loop.self = loop
console.log(loop, Object.create(null), 'x'.repeat(3), ['a'.repeat(100)], new Array(200).fill(0))
console.log(util.format('%s %i %f %%', 'a', '42.5', '1.5'), util.types.isDate(new Date()), util.isDeepStrictEqual([1], [1]))
//: program an exception
function outer () { inner() }
function inner () { throw new TypeError('wrong') }
outer()
//: program an exception that is no error
throw { code: 7 }
//: program a cause
throw new Error('outer', { cause: new RangeError('inner') })
//: program an undefined name
console.log('before')
console.log(missing)
//: program a property of undefined
const a = {}
a.b.c = 1
//: program a syntax error
console.log('never'
const x = ;
//: program a rejection that nobody handles
async function main () { throw new Error('rejected') }
main()
console.log('end of the main program')
//: program a rejection without an error
Promise.reject(5)
//: program handlers of what is uncaught
process.on('uncaughtException', (error, origin) => { console.log('caught', error.message, origin) })
process.on('unhandledRejection', reason => { console.log('rejected', reason) })
Promise.reject(1)
setTimeout(() => { throw new Error('late') }, 5)
//: program exit codes
console.log('x')
process.exitCode = 3
//: program process.exit
process.on('exit', code => console.log('exiting', code))
setTimeout(() => console.log('never'), 1000)
process.exit(4)
//: program exit within try and finally
try { process.exit(2) } finally { console.log('never') }
//: program beforeExit and exit
let once = 0
process.on('beforeExit', () => { if (once++ < 1) setTimeout(() => console.log('again'), 1) })
process.on('exit', () => console.log('exit'))
//: program process.abort
//: boxed driver.js
//: because a program of a box runs inside a driver
process.abort()
//: program a signal to itself
process.kill(process.pid, 'SIGTERM')
setTimeout(() => {}, 1000)
//: program handlers of signals
process.on('SIGUSR1', name => { console.log('got', name); clearInterval(timer) })
const timer = setInterval(() => {}, 1000)
process.on('SIGTERM', () => {})
process.kill(process.pid, 'SIGUSR1')
//: program an assertion
const assert = require('assert')
assert.deepStrictEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] })
//: program assertions that are caught
//: boxed 0 == true
//: because code is compiled as <code>, whose text assert() cannot read
const assert = require('assert')
for (const check of [() => assert.equal(1, 2), () => assert(0), () => assert.throws(() => {}), () => assert.match('a', /b/)]) {
  try { check() } catch (error) { console.log(error.code, error.message) }
}
//: program stack of an error
function deep (n) { if (n === 0) { throw new Error('deep') } deep(n - 1) }
try { deep(2) } catch (error) { console.log(error.stack.split('\n').slice(0, 5).join('\n')) }
Error.stackTraceLimit = 1
console.log(new Error('short').stack)
//: program a recursion without end
function f () { return f() + 1 }
try { f() } catch (error) { console.log(error instanceof RangeError, error.message) }
//: program what a CommonJS module has
console.log(typeof require, typeof module, typeof exports, __filename, __dirname, require.main === module, module.exports === exports, this === exports)
console.log(module.id, module.filename, module.children.length, require.resolve('fs'), process.argv.slice(1), process.argv0)
//: program the process
console.log(process.cwd(), process.execArgv, process.title, process.platform, process.arch, process.version, process.exitCode, process.env.HOME, process.stdin.isTTY, process.stdout.isTTY)
console.log(process.uptime() >= 0, process.memoryUsage().rss > 0, process.hrtime.bigint() > 0n, process.umask().toString(8), process.stdout.columns, process.features.inspector)
console.log(Object.keys(process.versions).includes('v8'), process.release.name, process.config.variables.napi_build_version !== undefined)
//: program global names
//: boxed bridge
//: because the names that code gets are global, as in node's own REPL
console.log(Object.getOwnPropertyNames(globalThis).sort().join(' '))
//: program names that it declares do not become global
var one = 1
let two = 2
function three () { return this === globalThis }
four = 4
console.log(globalThis.one, globalThis.two, globalThis.three, globalThis.four, three())
//: program strict mode
'use strict'
try { undeclared = 1 } catch (error) { console.log(error.message) }
console.log((function () { return this })())
//: program sloppy mode
//: boxed object 8 object 6
//: because a program of a box runs inside a driver
console.log((function () { return typeof this })(), 010, typeof arguments, arguments.length)
var let_ = 1; with ({ let_: 2 }) console.log(let_)
//: program names of built-ins
class Set { constructor () { this.items = [] } }
const Promise = 1, JSON = 2
function Buffer () {}
let Object = 3, Array = 4, console2 = console
console2.log(new Set().items.length, Promise, JSON, typeof Buffer, Object, Array)
//: program a constant that is assigned
const k = 1
k = 2
//: program a name before its declaration
console.log(v)
var v = 1
console.log(l)
let l = 2
//: program return at the top
console.log('before')
if (true) return
console.log('never')
//: program top-level await is an error in CommonJS
//: boxed \A1\n
//: because code may await and require, in one program
//: ignore stderr
const fs = require('fs')
console.log(await 1)
//: program modules of its own
const fs = require('fs')
fs.writeFileSync('helper.js', 'exports.name = __filename; exports.count = (exports.count || 0) + 1')
fs.mkdirSync('lib')
fs.writeFileSync('lib/index.js', 'module.exports = { of: require("../helper"), parent: module.parent === null }')
fs.writeFileSync('data.json', '{"a": [1, 2]}')
console.log(require('./helper'), require('./lib'), require('./data.json').a, require('./helper') === require('./lib').of)
console.log(require.cache[require.resolve('./helper')].exports.count, Object.keys(require.cache).every(name => name.startsWith(__dirname)), require('module').builtinModules.includes('fs'))
delete require.cache[require.resolve('./helper')]
require('./missing')
//: program an error in a module of its own
require('fs').writeFileSync('broken.js', 'exports.f = () => { null.x }')
require('./broken').f()
//: program a module of JSON that is broken
require('fs').writeFileSync('a.json', '{"a": }')
require('./a.json')
//: program a module that does not exist
const express = require('express')
//: program a package in node_modules
const fs = require('fs')
fs.mkdirSync('node_modules/mine', { recursive: true })
fs.writeFileSync('node_modules/mine/package.json', '{"name": "mine", "version": "1.2.3", "main": "m.js"}')
fs.writeFileSync('node_modules/mine/m.js', 'module.exports = () => "mine"')
console.log(require('mine')(), require('mine/package.json').version)
import('mine').then(module => console.log(module.default()))
//: program dynamic import
import('node:path').then(path => console.log(path.join('a', '..', 'b')))
import('./missing.mjs').catch(error => console.log(error.code))
//: program an ES module
//: boxed function code\.js \{\}
//: because code may import and require, in one program
//: module
import fs, { readFileSync } from 'node:fs'
import * as path from 'path'
fs.writeFileSync('other.mjs', 'export const x = 1; export default class A {}; export { x as y }')
const { x, y, default: A } = await import('./other.mjs')
console.log(x, y, A, typeof require, path.basename(import.meta.url), this, readFileSync('other.mjs', 'utf8').length)
export const z = 1
//: program an ES module that fails
//: module
import fs from 'fs'
await new Promise(resolve => setTimeout(resolve, 5))
throw new Error('in a module')
//: program an ES module with a name that is not exported
//: module
//: boxed named 'nothing'\n    at async
//: because an import of a program is a call, of which the error has the place
import { nothing } from 'fs'
//: program an ES module that never settles
//: boxed nothing is left that could settle
//: because a box says why it ends with status 13
//: module
import 'fs'
console.log('before')
await new Promise(() => {})
//: program createRequire
//: module
import { createRequire } from 'module'
import { fileURLToPath } from 'url'
const require = createRequire(import.meta.url)
console.log(require('os').EOL === '\n', fileURLToPath(import.meta.url))
//: program a single statement
require('assert')(1 === 2, 'one is not two')
//: program a single statement below comments
// one
/* two */ console.log(new Error('here').stack.split('\n')[1].match(/\d+:\d+/)[0])
//: program a single statement in several lines
[1].map(() =>
	console.log(new Error('here').stack.split('\n')[1].match(/\d+:\d+/)[0]))
//: program an error in the single statement
null.x
//: program keys of the global object
console.log(Object.keys(globalThis).join(), typeof globalThis.process)
for (const key in globalThis) console.log(key)
//: program order of ticks, promises and timers
setTimeout(() => console.log('timeout'), 0)
setImmediate(() => setTimeout(() => console.log('last'), 5))
process.nextTick(() => console.log('tick'))
Promise.resolve().then(() => console.log('promise'))
queueMicrotask(() => console.log('microtask'))
console.log('main')
//: program timers
const began = Date.now()
const id = setInterval(() => { if (++n === 3) { clearInterval(id); console.log('three', Date.now() - began >= 12) } }, 5)
let n = 0
setTimeout(console.log, 1, 'with', 'arguments')
setTimeout(() => console.log('never'), 60000).unref()
require('timers/promises').setTimeout(5, 'value').then(console.log)
//: program async iteration and generators
async function * numbers () { for (let n = 0; n < 3; n++) { await null; yield n } }
;(async () => {
  for await (const n of numbers()) console.log(n)
  console.log(await Promise.allSettled([Promise.reject(1), 2]), await Promise.any([Promise.reject(1), 3]), await Promise.race([4, new Promise(() => {})]))
  await Promise.all([1, Promise.reject(new Error('all'))]).catch(error => console.log(error.message))
})()
//: program AsyncLocalStorage and hooks
const { AsyncLocalStorage } = require('async_hooks')
const store = new AsyncLocalStorage()
store.run('context', () => setTimeout(() => console.log(store.getStore()), 1))
console.log(store.getStore(), require('perf_hooks').performance.now() > 0)
//: program modern syntax
class Stack { static #count = 0; #items = []; push (x) { this.#items.push(x); Stack.#count++; return this } static { this.made = true } get top () { return this.#items.at(-1) } has (x) { return #items in x } }
const s = new Stack().push(1).push(2)
console.log(s.top, s?.missing?.x ?? 'default', Stack.made, [3, 1, 2].toSorted(), Object.groupBy, [1, [2, [3]]].flat(Infinity), 1_000, structuredClone(new Map([[1, { a: 1 }]])))
console.log([...'añ😀'].length, 'x'.padStart(3, '-'), `${1 + 1}`, Object.fromEntries([['a', 1]]), 2n ** 64n, 'a-b'.replaceAll('-', '+'), /(?<y>\d+)/.exec('in 2024').groups.y)
label: for (const i of [1, 2]) { for (;;) { continue label } }
//: program dates and Intl
console.log(new Date(0).toString(), new Date(2024, 1, 29).toISOString(), Date.parse('2024-01-01'), new Date('x').getTime(), new Date(0).toLocaleString('de-DE', { timeZone: 'Europe/Berlin' }))
console.log(new Intl.NumberFormat('de', { style: 'currency', currency: 'EUR' }).format(1234.5), Intl.DateTimeFormat().resolvedOptions().timeZone, Intl.DateTimeFormat().resolvedOptions().locale, 'ä'.localeCompare('z', 'de'))
//: program JSON
console.log(JSON.stringify({ a: [1, undefined, () => 1, NaN], b: new Date(0), c: 'é\u2028' }, null, 1), JSON.parse('{"__proto__": 1}'))
JSON.parse('{"a": 1,}')
//: program a WebAssembly module
const bytes = Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3, 97, 100, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11])
WebAssembly.instantiate(bytes).then(({ instance }) => console.log(instance.exports.add(2, 3)))
//: program eval, Function and vm
//: boxed 42 string function
//: because the names that code gets are global, as in node's own REPL
const vm = require('vm')
var x = 1
console.log(eval('x + 1'), new Function('a', 'return a * 2')(4), vm.runInNewContext('y * 2', { y: 21 }), typeof vm.runInThisContext('typeof x'), (0, eval)('typeof require'))
vm.runInNewContext('throw new Error("in vm")', {}, 'mine.js')
//: program warnings
process.emitWarning('mine', 'MyWarning', 'CODE')
new Buffer(1)
const { EventEmitter } = require('events')
const emitter = new EventEmitter()
for (let n = 0; n < 11; n++) emitter.on('x', () => {})
//: program memory and garbage
const registry = new FinalizationRegistry(() => {})
registry.register({}, 1)
console.log(new WeakRef({}).deref() !== undefined, typeof gc, require('v8').getHeapStatistics().total_heap_size > 0)
//: program TypeScript is an error
const x: number = 1
//: program a shebang and a comment
#!/usr/bin/env node
console.log('after the shebang')
//: program much output
process.stdout.write('x'.repeat(300000) + '\n')
console.log('end')
process.exitCode = 1
//: program readline of an empty input
const readline = require('readline')
const lines = readline.createInterface({ input: process.stdin })
lines.on('line', () => console.log('never'))
lines.on('close', () => console.log('closed'))
//: program a question without an answer
const lines = require('readline').createInterface({ input: process.stdin, output: process.stdout })
lines.question('Name? ', name => console.log(name))
//: program standard input read at once
console.log(JSON.stringify(require('fs').readFileSync(0, 'utf8')))
process.stdin.on('data', () => {}).on('end', () => console.log('end'))
