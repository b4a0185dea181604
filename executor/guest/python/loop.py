# SPDX-License-Identifier: Apache-2.0
"""loop.py - runs code that awaits at its top level, in an event loop that persists: tasks that such code leaves running
continue while later code awaits.

driver.py loads this file when there is such code. asyncio is imported only then.
"""

import asyncio
import contextvars
import inspect
import os
import selectors
import signal
import warnings

ASYNCIO = os.path.dirname(asyncio.__file__) + "/"


class Interrupt:
    """
    SIGINT while a task runs. If it arrives between two steps, in the loop's own code, the task is cancelled, because an
    exception there could lose a step permanently. A program that has its own handler keeps it.
    """

    def __init__(self, loop, task):
        self.loop, self.task, self.came = loop, task, False

    def __enter__(self):
        self.theirs = signal.getsignal(signal.SIGINT)
        if self.theirs is signal.default_int_handler:
            signal.signal(signal.SIGINT, self.take)
        return self

    def __exit__(self, *_):
        if signal.getsignal(signal.SIGINT) == self.take:
            signal.signal(signal.SIGINT, self.theirs)

    @staticmethod
    def between_steps(frame):
        while frame is not None and frame.f_code is not Loop.outcome.__code__:
            file = frame.f_code.co_filename
            if file != selectors.__file__ and not file.startswith(ASYNCIO):
                return False
            frame = frame.f_back
        return frame is not None

    def take(self, number, frame):
        if not self.between_steps(frame):
            return self.theirs(number, frame)
        self.came = True
        self.task.cancel()
        self.loop.call_soon_threadsafe(lambda: None)

    @classmethod
    def hide(cls, error):
        """Removes the frame of take(), which is not part of the code."""
        last, trace = None, error.__traceback__
        while trace is not None and trace.tb_next is not None:
            last, trace = trace, trace.tb_next
        if last is not None and trace.tb_frame.f_code is cls.take.__code__:
            last.tb_next = None


class Loop:
    def __init__(self):
        self.loop = self.context = None

    def current(self):
        """The loop that the program has set, otherwise ours: asyncio.run() leaves none set."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                loop = asyncio.get_event_loop()
        except RuntimeError:
            loop = self.loop
        if loop is None or loop.is_closed():
            loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        self.loop = loop
        return loop

    async def play(self, parts, scope):
        """
        Returns the last part's value and None; or None and the exception of the code. It is not raised here: a SystemExit
        would leave the loop in the middle of its work, and any other exception would contain the loop's frames.
        """
        value = None
        try:
            for code in parts:
                value = eval(code, scope)
                if code.co_flags & inspect.CO_COROUTINE:
                    value = await value
            return value, None
        except BaseException as error:
            Interrupt.hide(error)
            return None, error
        finally:
            self.context = contextvars.copy_context()

    def outcome(self, parts, scope):
        """Returns play()'s result. If anything else ends the loop, such as another task's interrupt, the code ends too."""
        loop, self.context, reason = self.current(), {}, None
        task = loop.create_task(self.play(parts, scope))
        with Interrupt(loop, task) as interrupt:
            try:
                value, error = loop.run_until_complete(task)
            except BaseException as other:
                reason = other
                value, error = self.cancel(task)
        if isinstance(error, asyncio.CancelledError) and (interrupt.came or isinstance(reason, KeyboardInterrupt)):
            error = KeyboardInterrupt().with_traceback(error.__traceback__)
        elif isinstance(error, asyncio.CancelledError):
            error = reason or error
        return value, error

    def cancel(self, task):
        """Returns play()'s result after the cancellation, or its equivalent if play() has not begun."""
        task.cancel()
        try:
            return self.loop.run_until_complete(task)
        except asyncio.CancelledError as error:
            return None, error

    def run(self, parts, scope):
        """Returns the last part's value."""
        value, error = self.outcome(parts, scope)
        self.keep_context()
        try:
            if error is not None:
                raise error
            return value
        finally:
            del error  # its traceback refers to this frame

    def keep_context(self):
        """A task has a copy of all context variables. This passes the values that the code set to later code."""
        for variable, value in self.context.items():
            variable.set(value)

    def close(self):
        """Shuts the loop down as asyncio.run() does."""
        loop = self.loop
        if loop.is_closed():
            return
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.wait(tasks))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
