#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Python that awaits at its top level, without a box: programs, statements and what these leave running, interrupts.

    test_await.py DIRECTORY        of the drivers
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from talk import check, interrupted, python, python_both  # noqa: E402

ECHO = "async def echo(x, s=0.01):\n    await asyncio.sleep(s)\n    return x"


def test_programs(directory):
    for code, status, out, result in (
            ("import asyncio\nawait asyncio.sleep(0, 7)", 0, "", 7),
            ("import asyncio\nx = await asyncio.sleep(0, 2)\nasync with asyncio.Lock(): print('in')\nx + 1", 0, "in\n", 3),
            ("async def g():\n    yield 1\nasync for x in g(): print(x)\n[x + 1 async for x in g()]", 0, "1\n", [2]),
            ("import asyncio\nresult = await asyncio.gather(*(asyncio.sleep(0, n) for n in range(3)))", 0, "", [0, 1, 2]),
            ("import asyncio, sys\nawait asyncio.sleep(0)\nsys.exit(3)", 3, "", None),
            ("from __future__ import annotations\nasync def f(a: no) -> no: return 1\nawait f(2)", 0, "", 1),
            # As asyncio.run() ends: what waits is cancelled and waited for, and what was thrown at threads is done.
            ("import asyncio, time\nasync def f():\n    try: await asyncio.sleep(60)\n    finally:\n        await asyncio.sleep(0)\n"
             "        print('cleaned')\ntask = asyncio.create_task(f())\nawait asyncio.sleep(0)\n"
             "asyncio.get_running_loop().run_in_executor(None, lambda: (time.sleep(0.1), print('done')))\n1", 0, "cleaned\ndone\n", 1),
            ("import asyncio\nasync def f(): return 1\nasyncio.run(f())", 0, "", 1)):
        with python(directory) as talk:
            reply = talk.program(code)
            assert (reply.status, talk.out(), reply.result, talk.err()) == (status, out, result, ""), (code, reply.status, reply.frames)


def test_what_is_left_running_goes_on(directory):
    for start in python_both(directory):
        with start() as talk:
            check(talk, [
                ("import sys; 'asyncio' in sys.modules", 0, "", False), ("import asyncio\n" + ECHO, 0, "", None),
                ("task = asyncio.create_task(echo(5)); await echo(1, 0)", 0, "", 1), ("await task", 0, "", 5),
                ("queue = asyncio.Queue(); asyncio.get_running_loop().call_later(0.01, queue.put_nowait, 2); await echo(3, 0)", 0, "", 3),
                ("await queue.get()", 0, "", 2), ("x = await echo(6)", 0, "", None), ("x", 0, "", 6),
                # A loop of the program's own and asyncio.run() are in nobody's way.
                ("asyncio.run(echo(7))", 0, "", 7), ("task = asyncio.get_event_loop().create_task(echo(8))", 0, "", None),
                ("await task", 0, "", 8), ("task = asyncio.create_task(echo(8))", 0, "", None), ("task.done()", 0, "", False), ("await task", 0, "", 8),
                ("def f(): asyncio.create_task(echo(8))\nasyncio.get_running_loop().is_running()", 0, "", True),
                ("await echo(9)", 0, "", 9), ("loop = asyncio.get_event_loop(); task = loop.create_task(echo(8))", 0, "", None),
                ("await task", 0, "", 8), ("loop.run_until_complete(echo(4))", 0, "", 4), ("loop.close()", 0, "", None),
                ("await echo(10)", 0, "", 10)])


def test_context_variables_stay(directory):
    with python(directory) as talk:
        check(talk, [("import contextvars, decimal\nv = contextvars.ContextVar('v')\nasync def f(): v.set(3)\n"
                      "v.set(1); await f()\nv.get()", 0, "", 3), ("v.get()", 0, "", 3), ("v.set(4); await f(); v.get()", 0, "", 3)])


def test_exceptions_are_shown_as_without_a_loop(directory):
    for start in python_both(directory):
        with start() as talk:
            talk.statement("import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    raise KeyError('k')")
            reply = talk.statement("x = 1\nawait f()")
            assert reply.status == 1 and reply.error == ("KeyError", "2", "'k'")
            assert talk.err() == ('Traceback (most recent call last):\n  File "<code 2>", line 2, in <module>\n    await f()\n'
                                  '  File "<code 1>", line 4, in f\n    raise KeyError(\'k\')\nKeyError: \'k\'\n')
            reply = talk.statement("asyncio.get_running_loop().stop()\nawait asyncio.sleep(1)")
            assert reply.status == 1 and reply.error[:1] == ("RuntimeError",), reply.frames
            reply = talk.statement("def g():\n    await f()")
            assert reply.payload(b"U") and reply.error == ("SyntaxError", "2", "'await' outside async function")
            check(talk, [("x", 0, "", 1), ("await asyncio.sleep(0, 2)", 0, "", 2)])


def test_an_interrupt_ends_what_waits(directory):
    for start in python_both(directory):
        with start() as talk:
            talk.statement("import asyncio, time\nasync def tidy():\n    try:\n        await asyncio.sleep(60)\n    finally:\n"
                           "        await asyncio.sleep(0)\n        global tidied\n        tidied = True")
            for body in ("await asyncio.sleep(60)", "await tidy()", "await asyncio.sleep(0); time.sleep(60)", "while await asyncio.sleep(0, 1): pass",
                         "await asyncio.gather(asyncio.sleep(60), tidy())"):
                reply = interrupted(talk, f"print('on')\n{body}\nleft = 1")
                shown = talk.err()
                assert reply.status == 1 and reply.error[:2] == ("KeyboardInterrupt", "2"), (body, reply.frames)
                assert "\nKeyboardInterrupt\n" in shown and "run_forever" not in shown and "loop.py" not in shown, shown
            check(talk, [("tidied, 'left' in globals()", 0, "", [True, False]), ("await asyncio.sleep(0, 3)", 0, "", 3)])


# Has SIGINT handled, as the interpreter would, where the loop comes to the nth line of its own work from here on.
INTERRUPT_AT = """
import asyncio, os, selectors, signal, sys
steps = ticks = 0
OURS = os.path.dirname(asyncio.__file__) + "/", selectors.__file__
def trace(frame, event, argument):
    global left
    file = frame.f_code.co_filename
    if event == "line" and file.startswith(OURS) and file != asyncio.tasks.__file__:  # sleep() is of a step
        left -= 1
        if left == 0:
            sys.settrace(None)
            signal.getsignal(signal.SIGINT)(signal.SIGINT, frame)
    return trace
def interrupt_at(n):
    global left
    left, frame = n, sys._getframe(1)
    while frame is not None:
        frame.f_trace, frame = trace, frame.f_back
    sys.settrace(trace)
async def tick():
    global ticks
    while True: ticks += 1; await asyncio.sleep(0)
ticker = asyncio.get_event_loop().create_task(tick())
"""


def test_an_interrupt_loses_no_step(directory):
    """Wherever it comes: an exception in the loop's own work would, and what waits for that step would do so for ever."""
    with python(directory) as talk:
        assert talk.statement(INTERRUPT_AT).status == 0, talk.err()
        for n in range(1, 161):  # a turn of the loop with two tasks has some 70 lines
            reply = talk.statement(f"interrupt_at({n})\nwhile await asyncio.sleep(0, True): steps += 1")
            assert reply.error[0] == "KeyboardInterrupt", (n, reply.frames, talk.err())
            check(talk, [("before = ticks\nfor _ in range(3): await asyncio.sleep(0)\nticks > before", 0, "", True)])
        end = talk.statement("steps, left").result
        assert end[0] > 40 and end[1] == 0, end


def test_who_handles_interrupts_does_so(directory):
    with python(directory) as talk:
        talk.statement("import asyncio, signal\nn = 0\ndef count(*_):\n    global n\n    n += 1\nsignal.signal(signal.SIGINT, count)")
        assert interrupted(talk, "print('on')\nwhile n == 0: await asyncio.sleep(0.01)\nn").result == 1
        talk.statement("signal.signal(signal.SIGINT, signal.default_int_handler)")
        code = "asyncio.get_running_loop().add_signal_handler(signal.SIGINT, count)\nprint('on')\nwhile n == 1: await asyncio.sleep(0.01)\nn"
        assert interrupted(talk, code).result == 2


def test_an_interrupt_of_another_task(directory):
    with python(directory) as talk:
        reply = interrupted(talk, "import asyncio\nasync def busy():\n    print('on')\n    while True: pass\n"
                                  "task = asyncio.create_task(busy())\nawait asyncio.sleep(60)")
        assert reply.status == 1 and reply.error[:2] == ("KeyboardInterrupt", "6"), reply.frames
        check(talk, [("task.done(), await asyncio.sleep(0, 3)", 0, "", [True, 3])])


def test_forks_leave_the_loop_alone(directory):
    with python(directory) as talk:
        check(talk, [("import asyncio, os\nasync def wait():\n    try: return await asyncio.sleep(0.05, 5)\n    finally: print('over')\n"
                      "task = asyncio.create_task(wait())\nawait asyncio.sleep(0)\npid = os.fork()", 0, "", None),
                     ("os.waitpid(pid, 0)[1], await task", 0, "over\n", [0, 5])])


def test_files_of_the_workspace_do_not_shadow_ours(directory):
    traps = {name: "raise SystemExit('shadowed')" for name in ("asyncio.py", "selectors.py", "token.py", "inspect.py", "contextvars.py")}
    with python(directory, files=traps) as talk:
        reply = talk.program("async def f(): return 1\nawait f()")
        assert (reply.status, reply.result) == (0, 1), (reply.frames, talk.err())


def main():
    cases.run(sys.modules[__name__], sys.argv[1])


if __name__ == "__main__":
    main()
