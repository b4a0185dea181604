# SPDX-License-Identifier: Apache-2.0
"""failure.py - reports an exception that a program did not catch. It is printed as by the interpreter, with the lines of
code that is in no file. It is also sent in a frame, unless it belongs to a thread or cannot be caught.

driver.py loads this file when there is such an exception.
"""

import sys

MAX_TYPE, MAX_TEXT = 256, 4096  # bytes


def _steps(trace, driver, file):
    """Returns the traceback without the frames of the driver's files, and the innermost line of the code in it, or 0."""
    ours = driver.rpartition("/")[0] + "/"
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(ours):
        trace = trace.tb_next
    line, step = 0, trace
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            line = step.tb_lineno
        step = step.tb_next
    return trace, line


def _fill_in(error):
    """Adds the source line of an error that the compiler found. The parser adds it itself, from a file."""
    from linecache import getline
    error.text = getline(error.filename, error.lineno or 0) or None


def _show(error, hook):
    try:
        if sys.excepthook is not hook:
            return sys.excepthook(type(error), error, error.__traceback__)
        from traceback import print_exception
        print_exception(error)
    except BaseException:
        sys.__excepthook__(type(error), error, error.__traceback__)


def _show_raised(head, raised, otherwise):
    """Prints an exception that cannot be caught. If that fails, the interpreter's own output has to suffice."""
    try:
        from traceback import format_exception
        sys.stderr.write(head + "".join(format_exception(raised.exc_type, raised.exc_value, raised.exc_traceback)))
        sys.stderr.flush()
    except BaseException:
        otherwise(raised)


def show_thread(raised):
    """threading.excepthook()"""
    from threading import __excepthook__, get_ident
    if raised.exc_type is SystemExit:
        return
    name = get_ident() if raised.thread is None else raised.thread.name
    _show_raised(f"Exception in thread {name}:\n", raised, __excepthook__)


def show_unraisable(raised):
    """sys.unraisablehook()"""
    try:
        head = f"{raised.err_msg or 'Exception ignored in'}: {raised.object!r}\n"
    except BaseException:
        return sys.__unraisablehook__(raised)
    _show_raised(head, raised, sys.__unraisablehook__)


def _cut(text, most):
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def failure(error, hook, driver, file):
    """Prints the error and returns the payload of an ERROR frame.  hook: the original sys.excepthook; file: the code's name."""
    error.__traceback__, line = _steps(error.__traceback__, driver, file)
    unread = isinstance(error, SyntaxError) and error.filename == file
    if unread and error.text is None:
        _fill_in(error)
    _show(error, hook)
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    if unread:
        line, text = error.lineno or 0, str(error.msg)
    else:
        try:
            text = str(error)
        except Exception:
            text = ""
    return f"{_cut(name.replace(chr(10), ' '), MAX_TYPE)}\n{line}\n{_cut(text, MAX_TEXT)}".encode()
