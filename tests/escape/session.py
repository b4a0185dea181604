# SPDX-License-Identifier: Apache-2.0
"""Statements of a session that attack its driver, the next statement, or another session (P-16, V, X, I5)."""

import os
import time

import box as boxes

# Repeats valid frames only: the first invalid frame would end the program.
FLOOD = "import os\nframes = (b'I' + bytes(4)) * 200000\nwhile True: os.write(3, frames)"


def state(box, code, name="session", **more):
    """One statement; its end."""
    end = box.begin(code, session=True, workspace=name, **more).end()
    assert not hasattr(end, "error"), vars(end)
    return end


def works(box, name="session", language="python"):
    """The session answers again, with a new interpreter or a few statements after the loss of the old one was reported."""
    code = {"python": "print(6 * 7)", "node": "console.log(6 * 7)", "shell": "echo $((6 * 7))"}[language]
    for _ in range(4):
        end = state(box, code, name, language=language)
        if "42\n" in end.out:
            break
    assert "42\n" in end.out and end.how == "exited", vars(end)
    box.drop(name)
    assert box.alive() == []


def test_P16_forged_frames(box):
    """P-16, V-10: a statement that writes IDLE, DONE, RESULT or garbage on its channel spoils its own result at most."""
    for payload in "b'I' + bytes(4)", "b'D\\x01\\0\\0\\0' + b'0'", "b'D\\x01\\0\\0\\0' + b'7' + b'D\\x01\\0\\0\\0' + b'0'", "b'R' + b'\\xff' * 4", \
                   "b'Q' * 4096", "b'M' + (1 << 30).to_bytes(4, 'little')", "b'D' + bytes(4)", "b'I' + bytes(4) + b'D' + bytes(4)":
        end = state(box, f"os.write(3, {payload})\nprint('mine')", start="warm", wall_ms=3000)
        assert end.how in ("exited", "timed_out", "killed", "signalled"), (payload, vars(end))
        works(box)


def test_P16_floods_of_the_channel(box):
    """P-16, R-07: gigabytes on the control channel take bounded memory outside, and a neighbour is served meanwhile."""
    with open(f"/proc/{box.process.pid}/statm", encoding="ascii") as file:
        before = int(file.read().split()[1])
    flood = box.begin(FLOOD, session=True, workspace="flood", wall_ms=60000)
    for _ in range(20):
        assert box.begin("print(1)").end().out == "1\n"
    assert flood.reply.empty(), "neighbours were served behind it"
    flood.kill()
    with open(f"/proc/{box.process.pid}/statm", encoding="ascii") as file:
        assert int(file.read().split()[1]) - before < 8192, "it piles up"
    works(box, "flood")


def test_P16_claims_between_statements(box):
    """P-16 (I6): pictures that threads send while no statement runs are dropped; the next statement gets its own."""
    with open(f"/proc/{box.process.pid}/statm", encoding="ascii") as file:
        before = int(file.read().split()[1])
    state(box, "import threading, time\ndef go():\n  time.sleep(0.2)\n  for _ in range(8):\n    data = b'image/png\\n' + bytes(4 << 20)\n"
               "    data = memoryview(b'M' + len(data).to_bytes(4, 'little') + data)\n    while data: data = data[os.write(3, data):]\n  open('sent', 'w')\n"
               "threading.Thread(target=go, daemon=True).start()")
    time.sleep(1)
    with open(f"/proc/{box.process.pid}/statm", encoding="ascii") as file:
        assert int(file.read().split()[1]) - before < 1024, "it piles up"
    end = state(box, "os.path.exists('sent')")
    assert end.result == "true", vars(end)
    works(box)


def test_P16_closed_descriptors(box):
    """P-16: a statement that closes everything ends its interpreter or loses its own output; the next one works."""
    for code in "os.closerange(0, 1024)", "os.close(3)", "os.dup2(os.open('/dev/null', os.O_RDWR), 3)", "import socket; a, b = socket.socketpair(); os.dup2(a.fileno(), 3)":
        end = state(box, code, start="warm", wall_ms=3000)
        assert end.how in ("exited", "timed_out", "killed", "signalled"), (code, vars(end))
        works(box)


def test_V08_broken_interpreter(box):
    """V-05, V-08: a statement that replaces streams, builtins or gc harms its own session only, within its time."""
    for code in ("import sys; sys.stdout = sys.stderr = None", "import builtins; builtins.__dict__.clear()", "import gc; gc.disable(); gc.set_threshold(0)",
                "import sys; sys.modules.clear()", "import builtins; builtins.compile = builtins.exec = lambda *a, **k: 1 / 0", "import sys; sys.setrecursionlimit(5)",
                "import sys; sys.settrace(lambda *a: 1 / 0)", "def f(*a): raise KeyboardInterrupt\nimport sys; sys.excepthook = f\n1/0", "import os; os.write = None; os.getpid = None"):
        end = state(box, code, start="warm", wall_ms=3000)
        assert end.how in ("exited", "timed_out", "killed", "signalled"), (code, vars(end))
        box.drop("session")
        works(box)


def test_P05_deaf_to_interrupts(box):
    """P-05: a statement that ignores SIGINT is killed 2 seconds after its time limit together with its interpreter, and the loss is reported."""
    for code, language in ("import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(1)", "python"), \
                          ("process.on('SIGINT', () => {}); for (;;);", "node"), ("trap '' INT; while :; do sleep 1; done", "shell"):
        began = time.monotonic()
        end = state(box, code, language=language, wall_ms=500)
        assert end.how == "timed_out" and time.monotonic() - began < 10, (language, vars(end))
        works(box, language=language)


def test_P04_stopped_and_double_forked(box):
    """P-02, P-04: a statement that stops itself ends at its time limit; its daemons end with the session."""
    end = state(box, "import signal; os.kill(os.getpid(), signal.SIGSTOP)", wall_ms=500)
    assert end.how == "timed_out", vars(end)
    state(box, "import time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True: time.sleep(1)\n    os._exit(0)\nos.wait()")
    assert len(box.alive()) == 3, box.alive()
    works(box)


def test_R07_output_between_statements(box):
    """R-07: output of threads and daemons between two statements comes with the next one, limited in size."""
    state(box, "import threading, time\ndef go():\n    time.sleep(0.3)\n    for _ in range(100000): os.write(1, b'late ' * 200)\n"
               "threading.Thread(target=go, daemon=True).start()", output_bytes=20000)
    time.sleep(0.6)
    end = state(box, "print('now')", output_bytes=20000)
    assert "late" in end.out and len(end.out) <= 20000, len(end.out)
    works(box)


PLANTED = {"sitecustomize.py": "print('EVIL')", "usercustomize.py": "print('EVIL')", "evil.pth": "import os; os.write(1, b'EVIL')", "json.py": "print('EVIL')",
           "os.py": "print('EVIL')", ".npmrc": "node-options=--require /workspace/evil.js", "evil.js": "console.log('EVIL')", "util.js": "console.log('EVIL')",
           "package.json": '{"type":"module","imports":{"fs":"./evil.js"}}', "node_modules/fs/index.js": "console.log('EVIL')",
           ".bashrc": "echo EVIL", ".bash_profile": "echo EVIL", ".profile": "echo EVIL", ".inputrc": "EVIL", "base64": "#!/bin/sh\necho EVIL", "printf": "#!/bin/sh\necho EVIL"}


def test_V04_files_for_the_next_run(box):
    """V-01 to V-04: files that a run leaves in the workspace or home directory run in no later driver of any language, cold or warm."""
    end = box.run(f"files = {PLANTED!r}\nfor directory in '/workspace', '/tmp':\n  for name, text in files.items():\n    path = os.path.join(directory, name)\n"
                  "    os.makedirs(os.path.dirname(path), exist_ok=True); open(path, 'w').write(text); os.chmod(path, 0o755)", workspace="planted")
    assert end.exit_code == 0, end.err
    for language, code, start in ("python", "print({'a': 1})", "cold"), ("python", "1 / 0", "warm"), ("python", "{'a': [1]}", "warm"), \
                                 ("node", "({ a: 1 })", None), ("shell", "echo a; printf b", None):
        end = box.begin(code, language=language, start=start, workspace="planted").end()
        assert "EVIL" not in end.out + end.err, (language, vars(end))
    box.drop("planted")


def test_I5_two_principals(box):
    """I5, X-01, X-08: two sessions at once see nothing of each other: files, shared memory, processes, network, names."""
    plant = "open('/tmp/{0}', 'w'); open('/dev/shm/{0}', 'w'); open('/workspace/{0}', 'w'); import subprocess; subprocess.Popen(['sleep', '{1}'])"
    look = "print(sorted(os.listdir('/workspace') + os.listdir('/tmp') + os.listdir('/dev/shm')), sorted(int(n) for n in os.listdir('/proc') if n.isdigit()), " \
           "[open(f'/proc/{n}/cmdline').read() for n in os.listdir('/proc') if n.isdigit()])"
    state(box, plant.format("alice", 1111), "alice", start="warm")
    state(box, plant.format("robert", 2222), "robert", start="warm")
    seen = {name: state(box, look, name).out for name in ("alice", "robert")}
    assert "robert" not in seen["alice"] and "2222" not in seen["alice"] and "1111" in seen["alice"], seen
    assert "alice" not in seen["robert"] and "1111" not in seen["robert"] and "2222" in seen["robert"], seen
    box.drop("alice")
    box.drop("robert")
    assert "alice" not in state(box, look, "third").out
    box.drop("third")


def test_P07_programs_of_one_box(box):
    """P-07 (I16): two programs of one session share a workspace, and cannot see, read or trace each other."""
    state(box, "sleep 99 &", "both", language="shell")
    end = state(box, "import time; time.sleep(0.1); print(sorted(int(n) for n in os.listdir('/proc') if n.isdigit()) == [os.getpid()])", "both")
    assert end.out == "True\n", vars(end)
    box.drop("both")


# What a program may leave in its network: a connection in TIME_WAIT, a datagram to nobody, a route that was missed, a bound
# port, and a listener in flight in a cycle of sockets.
LEFT_IN_NETWORKS = (
    "s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); a, _ = s.accept(); c.close(); a.close()",
    "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
    "try: socket.create_connection(('192.0.2.1', 80), 5)\nexcept OSError: pass",
    "s = socket.create_server(('::1', 0), family=socket.AF_INET6)",
    "a, b = socket.socketpair(); s = socket.create_server(('127.0.0.1', 8000)); u = socket.socket(socket.AF_UNIX); u.bind('\\0left')\n"
    "for sock in a, b, s, u: socket.send_fds(a, [b'x'], [sock.fileno()]); socket.send_fds(b, [b'x'], [sock.fileno()])",
)


# All that a program can read of its network.  The kernel counts these for all of the host at once, whoever reads them; of
# protocols, what the sockets of one hold and whether that is much.  The addresses and inodes of the kernel's own netlink
# sockets are those of the namespace.
READ_NETWORK = (
    "import hashlib, re\ndef kept(name, data): return re.sub(rb'(?m)^[0-9a-f]{16}|\\d+ *$', b'', data) if name == 'netlink' else data\n"
    "hosts = re.compile(rb'(alloc|mem|orphan) \\d+|(?<=\\w)( +\\d+ +\\d+) +-?\\d+ +(?:yes|no|NI) ')\n"
    "for top, _, names in os.walk('/proc/self/net'):\n  for name in set(names) - {'softnet_stat'}:\n"
    "    try: tell(name, hashlib.sha256(kept(name, hosts.sub(rb'\\2', open(os.path.join(top, name), 'rb').read()))).hexdigest())\n"
    "    except OSError as error: tell(name, errno.errorcode[error.errno])\n"
)


def test_X13_network_that_was_used(box):
    """X-13, N-04: a reused network namespace shows nothing of its earlier sandbox: no socket, no counter, no writable setting."""
    fresh = box.tries(READ_NETWORK)
    for _ in range(3):
        box.run("import socket\nkept = [socket.socketpair() for _ in range(60)]\n[a.send(b'x' * 1000) for a, _ in kept]")
    again = box.tries(READ_NETWORK)
    assert fresh == again, {name: (fresh.get(name), again.get(name)) for name in fresh if fresh[name] != again.get(name)}
    for left in LEFT_IN_NETWORKS:
        end = box.run("import socket\n" + left)
        assert end.exit_code == 0, (left, vars(end))
        again = box.tries(READ_NETWORK)
        assert fresh == again, (left, {name: (fresh.get(name), again.get(name)) for name in fresh if fresh[name] != again.get(name)})


# Language, code, how it ends at latest.
LIMITS = {
    "memory": ({"python": "l = []\nwhile True: l.append(bytearray(1 << 20))", "node": "const l = []; for (;;) l.push(Buffer.alloc(1 << 20, 1));",
                "shell": "a=x; while :; do a=$a$a; done"}, {"memory_mb": 128}),
    "wall": ({"python": "while True: pass", "node": "for (;;);", "shell": "while :; do :; done"}, {"wall_ms": 700}),
    "processes": ({"python": "while True:\n  try: os.fork()\n  except OSError: pass", "node": "const c = require('child_process'); for (;;) try { c.spawn('sleep', ['99']); } catch {}",
                   "shell": "f() { f | f & }; f; sleep 99"}, {"processes": 40, "wall_ms": 1500}),
    "output": ({"python": "while True: os.write(1, b'x' * 65536)", "node": "const b = Buffer.alloc(65536, 'x'); for (;;) require('fs').writeSync(1, b);",
                "shell": "while :; do printf '%65536s' x; done"}, {"output_bytes": 10000, "wall_ms": 2000}),
    "disk": ({"python": "f = open('f', 'wb', 0)\nwhile True: f.write(bytes(1 << 20))", "node": "const f = require('fs'), d = f.openSync('f', 'w'), b = Buffer.alloc(1 << 20); for (;;) f.writeSync(d, b);",
              "shell": "head -c 1G /dev/zero > f || exit 1"}, {"disk_mb": 16, "wall_ms": 9000}),
    "tmp": ({"python": "f = open('/tmp/f', 'wb', 0)\nwhile True: f.write(bytes(1 << 20))", "node": "const f = require('fs'), d = f.openSync('/tmp/f', 'w'), b = Buffer.alloc(1 << 20); for (;;) f.writeSync(d, b);",
             "shell": "head -c 1G /dev/zero > /tmp/f || exit 1"}, {"tmp_mb": 8, "wall_ms": 9000}),
    "shm": ({"python": "f = open('/dev/shm/f', 'wb', 0)\nwhile True: f.write(bytes(1 << 20))", "node": "const f = require('fs'), d = f.openSync('/dev/shm/f', 'w'), b = Buffer.alloc(1 << 20); for (;;) f.writeSync(d, b);",
             "shell": "head -c 1G /dev/zero > /dev/shm/f || exit 1"}, {"tmp_mb": 8, "wall_ms": 9000}),
    "files": ({"python": "l = []\nwhile True: l.append(os.open('/dev/null', 0))", "node": "const l = []; for (;;) l.push(require('fs').openSync('/dev/null'));",
               "shell": "while :; do exec {fd}</dev/null || exit 1; done"}, {"open_files": 64}),
    "cpu": ({"python": "while True: pass", "node": "for (;;);", "shell": "while :; do :; done"}, {"cpu_ms": 300}),
}
# A program within its limits may use all of them; the shell's own descriptors start at 10.
WITHIN = {
    "disk": LIMITS["disk"][1] | {"code": "head -c 15M /dev/zero > f"},
    "tmp": LIMITS["tmp"][1] | {"code": "head -c 7M /dev/zero > /tmp/f"},
    "shm": LIMITS["shm"][1] | {"code": "head -c 7M /dev/zero > /dev/shm/f"},
    "files": LIMITS["files"][1] | {"code": "for n in {1..40}; do exec {fd}</dev/null || exit 1; done"},
    "cpu": LIMITS["cpu"][1] | {"code": "sleep 0.5"},
}


def counts_anew(box):
    """Can this kernel reset a memory peak?"""
    release = tuple(int(n) for n in os.uname().release.split("-")[0].split(".")[:2])
    return box.isolation["limits_by"] != "cgroup2" or release >= (6, 12)


def test_R05_use_of_statements(box):
    """R-01, R-05: each statement reports the use since the one before it: time, memory, refused processes."""
    state(box, "import time", "use", start="warm")
    spins = state(box, "end = time.process_time() + 0.3\nwhile time.process_time() < end: pass", "use")
    waits = state(box, "time.sleep(0.3)", "use")
    assert 250 < spins.cpu_ms < 1000 and waits.cpu_ms < 150, (spins.cpu_ms, waits.cpu_ms)
    holds = state(box, "x = bytearray(150 << 20)\ntime.sleep(0.2)", "use")
    state(box, "del x", "use")
    lean = state(box, "1", "use")
    assert holds.max_memory_bytes > 140 << 20, holds.max_memory_bytes
    assert not counts_anew(box) or 0 < lean.max_memory_bytes < 100 << 20, lean.max_memory_bytes
    box.drop("use")
    bomb = state(box, "for n in {1..30}; do sleep 1 & done; wait; exit 1", "full", language="shell", processes=8)
    assert bomb.too_many_processes or box.isolation["limits_by"] == "rlimit", vars(bomb)
    after = state(box, "exit 1", "full", language="shell", processes=8)
    assert not after.too_many_processes, vars(after)
    box.drop("full")


def test_R_limits_from_every_language(box):
    """R-01, R-03, R-05 to R-07 (I6, I7): each limit holds in every language, and a neighbour answers meanwhile."""
    for limit, (codes, more) in LIMITS.items():
        for language, code in codes.items():
            for start in ("cold", "warm") if language == "python" else (None,):
                hog = box.begin(code, language=language, start=start, **{"wall_ms": 10000, **more})
                began = time.monotonic()
                assert box.begin("print(1)", start="warm").end().out == "1\n"
                assert time.monotonic() - began < 10, (limit, language)
                end = hog.end()
                expected = {"wall": ("timed_out",), "output": ("timed_out",), "processes": ("timed_out", "exited", "signalled", "out_of_memory"),
                            "disk": ("exited",), "tmp": ("exited",), "shm": ("exited",), "files": ("exited",), "cpu": ("out_of_cpu",), "memory": ("out_of_memory", "exited", "signalled")}[limit]
                assert end.how in expected and (expected != ("exited",) or end.exit_code != 0), (limit, language, start, vars(end))
                if limit == "output":
                    assert len(end.out) <= 10000, (language, len(end.out))
    for limit, how in WITHIN.items():
        end = box.begin(language="shell", **{"wall_ms": 10000, **how}).end()
        assert end.how == "exited" and end.exit_code == 0, (limit, vars(end))
    assert box.alive() == []
