# SPDX-License-Identifier: Apache-2.0
"""What must work inside (BPF_TEST beside BPF_DEATH_TEST): walls that stop ordinary programs would soon be taken down."""

# Programs, and what each prints.
ORDINARY = {
    "subprocess": (r"""
import subprocess
print(subprocess.run(['ls', '/workspace'], capture_output=True, text=True).returncode)""", '0'),
    "shell": (r"""
import subprocess
print(subprocess.run('for i in 1 2 3; do echo $i; done | sort -r | head -1; echo err > /dev/stderr', shell=True, capture_output=True, text=True).stdout.strip())""", '3'),
    "threads": (r"""
import threading
l = []
ts = [threading.Thread(target=l.append, args=(i,)) for i in range(20)]
[t.start() for t in ts]; [t.join() for t in ts]
print(sorted(l) == list(range(20)))""", 'True'),
    "own_ids": (r"""
import os
u, g = os.getuid(), os.getgid()
os.setuid(u), os.setgid(g), os.setreuid(-1, u), os.setregid(g, -1), os.setresuid(-1, u, -1), os.setresgid(g, g, g)
os.waitpid(os.posix_spawnp('sh', ['sh', '-c', 'echo spawned'], os.environ, resetids=True), 0)
""", 'spawned'),
    "terminal": (r"""
import os, pty
pid, fd = pty.fork()
if pid == 0:
    os.execv('/bin/sh', ['sh', '-c', 'stty rows 30 columns 90; stty size; id -un; echo shown > /dev/tty'])
shown = b''
while b'shown' not in shown: shown += os.read(fd, 1000)
os.waitpid(pid, 0)
print(shown.split())""", "[b'30', b'90', b'sandbox', b'shown']"),
    "script": (r"""
import subprocess
print(subprocess.run(['script', '-qec', 'test -t 1 && echo yes', '/dev/null'], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout.strip())""", 'yes'),
    "null": (r"""
import errno, os, termios
try: termios.tcgetattr(os.open('/dev/null', os.O_RDWR))
except termios.error as e: print(errno.errorcode[e.args[0]])""", 'ENOTTY'),
    "descriptor": (r"""
import os
pid = os.fork()
if pid == 0: os.execve(os.open('/bin/true', os.O_RDONLY), ['true'], {})
print(os.waitpid(pid, 0)[1])""", '0'),
    "pool": (r"""
import concurrent.futures as f
with f.ThreadPoolExecutor(4) as p: print(sum(p.map(abs, range(-5, 5))))""", '25'),
    "asyncio": (r"""
import asyncio
async def main():
    p = await asyncio.create_subprocess_exec('echo', 'x', stdout=asyncio.subprocess.PIPE)
    out = await p.communicate()
    await asyncio.sleep(0.01)
    return out[0]
print(asyncio.run(main()))""", "b'x\\n'"),
    "multiprocessing": (r"""
import multiprocessing as m
with m.Pool(2) as p: print(p.map(abs, [-1, -2]))""", '[1, 2]'),
    "queue": (r"""
import multiprocessing as m
q = m.Queue()
p = m.Process(target=q.put, args=(5,)); p.start()
print(q.get()); p.join()""", '5'),
    "shared_memory": (r"""
from multiprocessing import shared_memory as s
m = s.SharedMemory(create=True, size=100000)
m.buf[0] = 7
print(m.buf[0])
m.close(); m.unlink()""", '7'),
    "sqlite": (r"""
import sqlite3
c = sqlite3.connect('/workspace/a.db')
c.execute('create table t(a)'); c.execute('insert into t values(1)'); c.commit()
print(c.execute('select * from t').fetchall())""", '[(1,)]'),
    "sqlite_wal": (r"""
import sqlite3
c = sqlite3.connect('/tmp/a.db')
print(c.execute('pragma journal_mode=wal').fetchone()[0])
c.execute('create table t(a)'); c.commit()""", 'wal'),
    "files": (r"""
import os, tempfile, shutil
d = tempfile.mkdtemp(dir='/workspace')
open(d + '/a', 'w').write('x')
os.link(d + '/a', d + '/b'); os.symlink('a', d + '/c')
os.chmod(d + '/a', 0o600); os.utime(d + '/a', (1, 1)); os.rename(d + '/b', d + '/e'); shutil.copytree(d, '/tmp/copy')
print(sorted(os.listdir('/tmp/copy')))""", "['a', 'c', 'e']"),
    "archives": (r"""
import tarfile, zipfile, io
open('f', 'w').write('x' * 1000)
with zipfile.ZipFile('a.zip', 'w', zipfile.ZIP_DEFLATED) as z: z.write('f')
with tarfile.open('a.tgz', 'w:gz') as t: t.add('f')
print(tarfile.open('a.tgz').getnames(), zipfile.ZipFile('a.zip').namelist())""", "['f'] ['f']"),
    "mmap": (r"""
import mmap
open('f', 'wb').write(bytes(8192))
with open('f', 'r+b') as f:
    m = mmap.mmap(f.fileno(), 0); m[0] = 5; m.flush()
print(open('f', 'rb').read(1))""", "b'\\x05'"),
    "pairs": (r"""
import os, socket, struct
from socket import *
for kind in SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET:
    a, b = socketpair(AF_UNIX, kind)
    for name, value in (SO_SNDBUF, 65536), (SO_RCVBUF, 65536), (SO_KEEPALIVE, 1), (SO_REUSEADDR, 1), (SO_LINGER, struct.pack('ii', 1, 1)), (SO_RCVLOWAT, 1), \
                       (SO_RCVTIMEO, struct.pack('ll', 5, 0)), (SO_SNDTIMEO, struct.pack('ll', 5, 0)):
        a.setsockopt(SOL_SOCKET, name, value); a.getsockopt(SOL_SOCKET, name, 64)
    assert a.getsockopt(SOL_SOCKET, SO_TYPE) == kind and a.getsockopt(SOL_SOCKET, SO_DOMAIN) == AF_UNIX
    assert a.getsockopt(SOL_SOCKET, SO_ERROR) == a.getsockopt(SOL_SOCKET, SO_ACCEPTCONN) == 0
    assert struct.unpack('iII', a.getsockopt(SOL_SOCKET, SO_PEERCRED, 12))[1:] == (os.getuid(), os.getgid())
    a.send(b'x', MSG_NOSIGNAL | MSG_DONTWAIT); assert b.recv(9, MSG_PEEK) == b.recv(9, MSG_DONTWAIT) == b'x'
    send_fds(a, [b'fd'], [0]); data, fds, _, _ = recv_fds(b, 9, 1)
    assert data == b'fd' and os.fstat(fds[0]) == os.fstat(0)
print('done')""", 'done'),
    "streams_of_pairs": (r"""
import asyncio, socket
async def main():
    a, b = socket.socketpair()
    (_, near), (far, _) = await asyncio.open_connection(sock=a), await asyncio.open_connection(sock=b, limit=1 << 20)
    near.write(b'x' * 100000 + b'\n'); await near.drain()
    return len(await far.readuntil())
print(asyncio.run(main()))""", '100001'),
    "advice": (r"""
import mmap, os
m = mmap.mmap(-1, 1 << 22)
for name in 'NORMAL', 'RANDOM', 'SEQUENTIAL', 'WILLNEED', 'DONTNEED', 'DONTFORK', 'DOFORK', 'DONTDUMP', 'DODUMP', 'HUGEPAGE', 'NOHUGEPAGE':
    m.madvise(getattr(mmap, 'MADV_' + name))
private = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
private.madvise(mmap.MADV_FREE)
print('done')""", 'done'),
    "flags": (r"""
import os
fd = os.open('f', os.O_RDWR | os.O_CREAT)
os.posix_fallocate(fd, 0, 8192); os.pwritev(fd, [b'abc'], 0, os.RWF_SYNC); os.fsync(fd)
print(os.preadv(fd, [bytearray(3)], 0, os.RWF_HIPRI), len(os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)), os.copy_file_range(fd, os.open('g', os.O_RDWR | os.O_CREAT), 3, 0))""",
              '3 2 3'),
    "signals": (r"""
import signal, time
signal.signal(signal.SIGALRM, lambda *a: print('rang'))
signal.setitimer(signal.ITIMER_REAL, 0.05); time.sleep(0.2)""", 'rang'),
    "random": (r"""
import os, random, secrets, ssl, uuid
print(len(os.urandom(8)), len(secrets.token_bytes(8)), len(ssl.RAND_bytes(8)), len(str(uuid.uuid4())))""", '8 8 8 36'),
    "users": (r"""
import getpass, os, pathlib, pwd
print(getpass.getuser(), pwd.getpwuid(os.getuid()).pw_name, pathlib.Path.home(), pwd.getpwuid(0).pw_name)""", 'sandbox sandbox /tmp root'),
    "streams": (r"""open('/dev/stdout', 'w').write('a\n'); open('/dev/null', 'w').write('x'); print(open('/dev/stdin').read() == '')""", 'a\nTrue'),
    "ctypes": (r"""
import ctypes
print(ctypes.CDLL(None).abs(-3))""", '3'),
    "locale": (r"""print('gr\u00fc\u00df', '\u4e2d'.encode())""", "gr\u00fc\u00df b'\\xe4\\xb8\\xad'"),
    "processors": (r"""
import os
print(os.cpu_count() >= 1, len(os.sched_getaffinity(0)) >= 1)""", 'True True'),
    "time": (r"""
import time, datetime
print(time.tzname[0], datetime.datetime.now().year > 2000)""", 'UTC True'),
    "directories": (r"""
import os
print(os.getcwd(), os.path.samefile('/mnt/data', '/workspace'), os.path.samefile('/sandbox/workspace', '.'))""", '/workspace True True'),
}


def check(box, programs):
    for name, (program, wanted) in programs.items():
        end = box.run(program, wall_ms=60000)
        assert end.how == "exited" and end.exit_code == 0, (name, end.how, end.signal, end.err)
        assert end.out == wanted + "\n", (name, wanted, end.out, end.err)


def test_ordinary_programs(box):
    """Python's own library, with processes, threads, shared memory, locks and signals."""
    check(box, ORDINARY)


def test_crashes(box):
    """Native code that crashes ends the program by the signal, and stderr says from which line it came."""
    for code, wanted in ("ctypes.string_at(0)", 11), ("os.abort()", 6):
        end = box.run(f"import os, ctypes\ndef crash():\n    {code}\ncrash()")
        assert end.how == "signalled" and end.signal == wanted, (code, vars(end))
        assert '"<code>", line ' in end.err and " in crash\n" in end.err, end.err


# What Node's own modules ask of the kernel: pairs of sockets, threads, processes that speak with it, files.
NODE = r"""
const cp = require('child_process'), fs = require('fs'), { Worker } = require('worker_threads');
fs.writeFileSync('child.js', "process.on('message', m => { process.send(m + 1); process.disconnect(); })");
fs.copyFileSync('child.js', 'copy.js');
const child = cp.fork('./copy.js');
child.send(41);
child.on('message', m => {
    const worker = new Worker("require('worker_threads').parentPort.postMessage(6 * 7)", { eval: true });
    worker.on('message', w => console.log(m, w, cp.execSync('echo shell | cat').toString().trim(), cp.spawnSync('cat', { input: 'in' }).stdout.toString()));
});
"""


def test_node(box):
    """Node's child_process, worker_threads and fs."""
    end = box.run(NODE, language="node", workspace="node", wall_ms=60000)
    assert end.how == "exited" and end.exit_code == 0, (end.how, end.signal, end.err)
    assert end.out == "42 42 shell in\n", (end.out, end.err)


def test_tools(box):
    """What shells and compilers need of the kernel."""
    end = box.run(r"""
import shutil, subprocess
commands = ["git init -q r && cd r && echo a > a && git add a && git -c user.name=a -c user.email=b commit -qm x && git log --oneline | wc -l",
            "printf 'int main(void) { return 7; }' > a.c && gcc a.c -o a && { ./a; echo $?; }", "perl -e 'print 6 * 7'",
            "make -s --eval='all:;@echo made'", "node -e 'console.log(6 * 7)'",
            "tar cf - /etc/passwd 2>/dev/null | tar tf -", "seq 100000 | sort -rn | head -1", "find / -xdev -name passwd 2>/dev/null", "id -un; whoami"]
for command in commands:
    tool = command.split()[0] if "gcc" not in command else "gcc"
    if shutil.which(tool) is None: continue
    run = subprocess.run(command, shell=True, capture_output=True, text=True)
    print(tool, run.stdout.split(), run.stderr.strip()[-200:])
""", wall_ms=60000)
    wanted = {"git": "['1']", "gcc": "['7']", "perl": "['42']", "node": "['42']", "tar": "['etc/passwd']", "seq": "['100000']",
              "make": "['made']", "find": "['/etc/passwd']", "id": "['sandbox', 'sandbox']"}
    for line in end.out.splitlines():
        tool, got = line.split(" ", 1)
        assert got.strip() == wanted[tool], (line, end.err)
    assert "find" in end.out and "seq" in end.out, (end.out, end.err)
