# SPDX-License-Identifier: Apache-2.0
# Processes, signals, threads, pools and event loops.
#: program subprocess.run
import subprocess, sys
done = subprocess.run(["echo", "a b"], capture_output=True, text=True)
print(done)
print(subprocess.run("exit 3", shell=True).returncode, subprocess.check_output([sys.executable, "-c", "print(6 * 7)"]))
print(subprocess.run(["cat"], input="given", text=True, capture_output=True).stdout)
#: program a command that fails
import subprocess
subprocess.run(["false"], check=True)
#: program a command that does not exist
import subprocess
subprocess.run(["no-such-command", "x"])
#: program a command that times out
import subprocess
try:
    subprocess.run(["sleep", "9"], timeout=0.1)
except subprocess.TimeoutExpired as error:
    print(error)
#: program a pipeline of commands
import subprocess
first = subprocess.Popen(["printf", "b\\na\\nb\\n"], stdout=subprocess.PIPE)
second = subprocess.Popen(["sort", "-u"], stdin=first.stdout, stdout=subprocess.PIPE, text=True)
first.stdout.close()
print(second.communicate(), first.wait())
#: program order of the output of children
import os, subprocess, sys
print("before", flush=True)
subprocess.run(["echo", "child"])
print("after")
sys.stdout.flush()
os.system("echo system; echo err >&2")
print("end")
#: program buffered output and children
#: boxed \Abuffered
#: because output of a program in a box is visible line by line
import os
print("buffered")
os.system("echo child")
#: program os.system and popen
import os
print(os.system("exit 5"), os.waitstatus_to_exitcode(os.system("exit 5")), os.popen("echo x").read(), os.system("kill -9 $$"))
#: program fork and wait
import os
pid = os.fork()
if pid == 0:
    print("child", flush=True)
    os._exit(7)
_, status = os.waitpid(pid, 0)
print("parent", os.waitstatus_to_exitcode(status), os.WIFEXITED(status))
try:
    os.wait()
except ChildProcessError as error:
    print(error)
#: program fork with buffered output
#: boxed \Atwice\nchild\nparent
#: because output of a program in a box is visible line by line
import os
print("twice")
if os.fork() == 0:
    print("child")
else:
    os.wait()
    print("parent")
#: program exec replaces the program
import os, sys
print("before", flush=True)
os.execvp("echo", ["echo", "replaced"])
#: program exec of the interpreter
import os, sys
os.execv(sys.executable, [sys.executable, "-c", "import sys; print(sys.argv); sys.exit(4)", "x"])
#: program posix_spawn
import os
pid = os.posix_spawn("/bin/sh", ["sh", "-c", "echo $X; exit 2"], {"X": "spawned"}, file_actions=[(os.POSIX_SPAWN_DUP2, 1, 2)])
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
pid = os.posix_spawn("/bin/true", ["true"], os.environ, resetids=True, setsigdef=[13], setpgroup=0)
print(os.waitpid(pid, 0)[1])
#: program pipes and select
import os, select
reader, writer = os.pipe()
print(select.select([reader], [], [], 0), select.select([], [writer], [], 0)[1] == [writer])
os.write(writer, b"x")
poll = select.poll()
poll.register(reader, select.POLLIN)
print(poll.poll(0) == [(reader, select.POLLIN)])
with select.epoll() as epoll:
    epoll.register(reader, select.EPOLLIN)
    print(epoll.poll(0) == [(reader, select.EPOLLIN)])
os.close(reader)
try:
    os.write(writer, b"x")
except BrokenPipeError as error:
    print(error)
#: program a broken pipe on stdout
#: boxed Traceback
#: because output of a program in a box is visible line by line
import os, sys
reader, writer = os.pipe()
os.dup2(writer, 1)
os.close(reader)
os.close(writer)
print("lost")
#: program signal handlers
import os, signal
signal.signal(signal.SIGUSR1, lambda number, frame: print("handled", signal.Signals(number).name))
os.kill(os.getpid(), signal.SIGUSR1)
signal.raise_signal(signal.SIGUSR1)
print(signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGPIPE), signal.strsignal(15))
#: program dispositions of signals at the start
#: boxed SIGURG
#: because this signal makes a program write its output before it is killed
import signal
print([signal.Signals(n).name for n in range(1, 32) if n not in (9, 19) and signal.getsignal(n) not in (signal.SIG_DFL, None)])
print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
#: program dispositions of signals in a child
import subprocess
print(subprocess.run(["grep", "-E", "Sig(Ign|Blk|Cgt)", "/proc/self/status"], capture_output=True, text=True).stdout)
#: program alarm and timers
import signal, time
def ring(*_):
    raise TimeoutError("rang")
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    time.sleep(5)
except TimeoutError as error:
    print(error)
#: program the alarm clock ends it
import signal, time
print("waiting", flush=True)
signal.setitimer(signal.ITIMER_REAL, 0.05)
time.sleep(5)
#: program a program that kills itself
#: boxed lost in the buffer
#: because output of a program in a box is visible line by line
import os, signal
print("lost in the buffer")
os.kill(os.getpid(), signal.SIGKILL)
#: program a program that terminates itself
import os, signal
print("flushed", flush=True)
os.kill(os.getpid(), signal.SIGTERM)
#: program keyboard interrupt
#: boxed 1\n
#: because a signal of its own is told with exit code 1; only a signal from outside interrupts
import os, signal, time
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)
except KeyboardInterrupt:
    print("interrupted")
raise KeyboardInterrupt
#: program abort
#: boxed Current thread
#: because a box tells where a program crashed
import os, sys
sys.stdout.write("x\n")
sys.stdout.flush()
os.abort()
#: program a segmentation fault
#: boxed Current thread
#: because a box tells where a program crashed
import ctypes
ctypes.string_at(0)
#: program faulthandler
#: ignore stderr
import faulthandler, os, signal
faulthandler.enable()
print("enabled", flush=True)
os.kill(os.getpid(), signal.SIGSEGV)
#: program a group of processes
import os, signal, subprocess
child = subprocess.Popen(["sleep", "9"], start_new_session=True)
print(os.getpgid(child.pid) == child.pid, os.getsid(child.pid) == child.pid)
os.killpg(child.pid, signal.SIGTERM)
print(child.wait())
#: program kill and terminate a child
import subprocess
for action in "terminate", "kill":
    child = subprocess.Popen(["sleep", "9"])
    getattr(child, action)()
    print(child.wait(), child.poll())
#: program priorities
#: uncounted
#: boxed 10 10 15
#: because a box without a control group gives way to the daemons
import os
print(os.nice(0), os.getpriority(os.PRIO_PROCESS, 0), os.nice(5))
try:
    os.nice(-10)
except OSError as error:
    print(error)
print(os.sched_getscheduler(0) == os.SCHED_OTHER)
#: program child that outlives its parent
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "print('late')"]).wait()
subprocess.Popen(["sh", "-c", "sleep 0.02; echo later"])
print("parent")
#: program threads
import threading
lock, total = threading.Lock(), 0
def add():
    global total
    for _ in range(1000):
        with lock:
            total += 1
threads = [threading.Thread(target=add) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(total, threading.active_count(), threading.current_thread().name, threading.main_thread() is threading.current_thread())
#: program a thread that fails
import threading
def fail():
    raise ValueError("in a thread")
thread = threading.Thread(target=fail, name="worker")
thread.start()
thread.join()
print("goes on")
#: program a thread that runs after the end of the main program
import threading, time
def later():
    time.sleep(0.1)
    print("from the thread")
threading.Thread(target=later).start()
print("main ends")
#: program a daemon thread does not hold up the end
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("end")
#: program atexit with threads and exit
import atexit, sys, threading
atexit.register(print, "first registered")
atexit.register(print, "last registered")
threading.Timer(0.05, lambda: print("timer")).start()
sys.exit("a message")
#: program queues and events
import queue, threading
jobs, done = queue.Queue(), []
def work():
    while (job := jobs.get()) is not None:
        done.append(job * job)
        jobs.task_done()
thread = threading.Thread(target=work)
thread.start()
for n in range(5):
    jobs.put(n)
jobs.join()
jobs.put(None)
thread.join()
print(done, threading.Event().wait(0.01))
try:
    jobs.get(timeout=0.01)
except queue.Empty:
    print("empty")
#: program thread-local data, barriers and semaphores
import threading
local, barrier, seen = threading.local(), threading.Barrier(3), []
def meet(n):
    local.n = n
    barrier.wait(5)
    seen.append(local.n)
threads = [threading.Thread(target=meet, args=(n,)) for n in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sorted(seen), hasattr(local, "n"), threading.BoundedSemaphore(2).acquire(timeout=1))
#: program a thread pool
from concurrent.futures import ThreadPoolExecutor, as_completed
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda n: n * n, range(10))))
    futures = {pool.submit(pow, 2, n): n for n in range(4)}
    print(sorted(future.result() for future in as_completed(futures)))
    print(repr(pool.submit(int, "x").exception()))
#: program a process pool
from concurrent.futures import ProcessPoolExecutor
def square(n):
    return n * n
if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        print(list(pool.map(square, range(5))))
        print(repr(pool.submit(int, "x").exception()))
#: program multiprocessing with a pool
import multiprocessing
def cube(n):
    return n ** 3
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(pool.map(cube, range(6)), pool.apply(cube, (9,)), sorted(pool.imap_unordered(cube, [1, 2])))
#: program multiprocessing starts anew
import multiprocessing, os
def tell(queue, n):
    queue.put((n, __name__, os.path.basename(__file__)))
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=tell, args=(queue, 1))
    process.start()
    print(queue.get(timeout=20))
    process.join()
    print(process.exitcode, multiprocessing.get_start_method())
#: program multiprocessing with a server that forks
import multiprocessing
def double(n):
    return 2 * n
if __name__ == "__main__":
    with multiprocessing.get_context("forkserver").Pool(2) as pool:
        print(pool.map(double, [1, 2, 3]))
#: program a process that fails
import multiprocessing
def fail():
    raise RuntimeError("in a process")
if __name__ == "__main__":
    process = multiprocessing.Process(target=fail, name="worker")
    process.start()
    process.join()
    print(process.exitcode, process.is_alive())
#: program shared memory, values, arrays and managers
import multiprocessing
from multiprocessing import shared_memory
def fill(value, array, shared, name):
    value.value += 1
    array[1] = 5
    shared["key"] = "set"
    block = shared_memory.SharedMemory(name)
    block.buf[0] = 77
    block.close()
if __name__ == "__main__":
    value, array = multiprocessing.Value("i", 41), multiprocessing.Array("d", 3)
    block = shared_memory.SharedMemory(create=True, size=100)
    with multiprocessing.Manager() as manager:
        shared = manager.dict()
        process = multiprocessing.Process(target=fill, args=(value, array, shared, block.name))
        process.start()
        process.join()
        print(value.value, list(array), dict(shared), block.buf[0])
    block.close()
    block.unlink()
#: program pipes, locks and events between processes
import multiprocessing
def answer(pipe, lock, event):
    with lock:
        pipe.send(pipe.recv() + ["answered"])
    event.set()
if __name__ == "__main__":
    mine, theirs = multiprocessing.Pipe()
    lock, event = multiprocessing.Lock(), multiprocessing.Event()
    process = multiprocessing.Process(target=answer, args=(theirs, lock, event))
    process.start()
    mine.send(["asked"])
    print(mine.recv(), event.wait(5))
    process.join()
#: program asyncio
import asyncio
async def work(n):
    await asyncio.sleep(n / 100)
    return n
async def main():
    print(await asyncio.gather(work(3), work(1), work(2)))
    try:
        await asyncio.wait_for(asyncio.sleep(5), 0.01)
    except asyncio.TimeoutError:
        print("timed out")
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(work(1))
            group.create_task(asyncio.sleep(0, result=1 / 1))
    finally:
        print("grouped")
    queue = asyncio.Queue()
    await queue.put(1)
    print(await queue.get(), await asyncio.to_thread(sum, [1, 2]), asyncio.get_running_loop().__class__.__name__)
asyncio.run(main())
#: program asyncio and processes
import asyncio
async def main():
    process = await asyncio.create_subprocess_exec("sh", "-c", "cat; exit 3", stdin=-1, stdout=-1)
    print(await process.communicate(b"given"), process.returncode)
    process = await asyncio.create_subprocess_shell("echo out; echo err >&2", stdout=-1, stderr=-1)
    print(await process.communicate())
asyncio.run(main())
#: program asyncio with a task that fails
import asyncio
async def fail():
    raise ValueError("in a task")
async def main():
    asyncio.create_task(fail())
    await asyncio.sleep(0.01)
    print("goes on")
asyncio.run(main())
#: program asyncio with a group that fails
import asyncio
async def fail(n):
    raise ValueError(n)
async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(fail(1))
        group.create_task(fail(2))
asyncio.run(main())
#: program asyncio with signals and an executor
import asyncio, concurrent.futures, os, signal
def square(n):
    return n * n
async def main():
    loop, seen = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, seen.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(seen.wait(), 5)
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        print(await loop.run_in_executor(pool, square, 7))
if __name__ == "__main__":
    asyncio.run(main())
#: program a coroutine that is never awaited
import asyncio
async def work():
    pass
work()
print("end")
#: program the old way to run a loop
import asyncio
loop = asyncio.get_event_loop()
print(loop.run_until_complete(asyncio.sleep(0, "done")))
loop.close()
#: program nested asyncio.run is refused
#: boxed tracemalloc
#: because objects of a program are freed before the interpreter's shutdown
import asyncio
async def inner():
    return 1
async def outer():
    asyncio.run(inner())
asyncio.run(outer())
#: program limits of resources
import resource
soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
files = []
try:
    for n in range(30):
        files.append(open("/dev/null"))
except OSError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_utime >= 0, resource.getpagesize())
#: program a memory limit of its own
import resource
resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
try:
    bytearray(400 << 20)
except MemoryError:
    print("no memory")
#: program the processor time that it allows itself
import resource, signal
resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
signal.signal(signal.SIGXCPU, lambda *_: (print("enough"), exit(3)))
while True:
    pass
#: program many children
import subprocess
children = [subprocess.Popen(["true"]) for _ in range(40)]
print(sum(child.wait() for child in children))
#: program many threads
import threading
event = threading.Event()
threads = [threading.Thread(target=event.wait) for _ in range(100)]
[thread.start() for thread in threads]
event.set()
[thread.join() for thread in threads]
print("all")
#: program a pseudo terminal
import os, pty
pid, fd = pty.fork()
if pid == 0:
    print(os.isatty(1), os.isatty(0), flush=True)
    os._exit(0)
text = b""
try:
    while part := os.read(fd, 100):
        text += part
except OSError as error:
    print(error.strerror)
print(text, os.waitpid(pid, 0)[1])
#: program standard streams
#: boxed True True backslashreplace
#: because output of a program in a box is visible line by line, and no character ends a program
import os, stat, sys
print(sys.stdin.isatty(), sys.stdout.isatty(), repr(sys.stdin.read()), sys.stdout.encoding, sys.stderr.encoding, sys.stdin.encoding)
print(sys.stdout.line_buffering, sys.stderr.line_buffering, sys.stdout.errors, sys.stderr.errors, sys.stdout.name, sys.stdout.fileno(), sys.stdout.mode)
print(stat.S_ISFIFO(os.fstat(1).st_mode), stat.S_ISFIFO(os.fstat(2).st_mode), stat.S_ISCHR(os.fstat(0).st_mode))
#: program input without any
name = input("Name? ")
#: program open descriptors of a child
import subprocess
print(subprocess.run("ls /proc/self/fd | wc -l", shell=True, capture_output=True, text=True).stdout)
#: program who it is
#: boxed sandbox
#: because a box has one user, which is nobody's on the host
import getpass, os, pwd
print(getpass.getuser(), pwd.getpwuid(os.getuid()).pw_name, os.path.expanduser("~"), os.getgroups())
#: program ids that it may not have
#: boxed Invalid argument
#: because a box has one user id
import os
os.setuid(os.getuid())
os.setresgid(-1, os.getgid(), -1)
try:
    os.setuid(0)
except OSError as error:
    print(error)
