# SPDX-License-Identifier: Apache-2.0
"""failure.py - reports an exception that a program did not catch. It is printed as by the interpreter, with the lines of
code that is in no file. It is also sent in a frame, unless it belongs to a thread or cannot be caught.

driver.py loads this file when there is such an exception.
"""

import sys

MAX_TYPE, MAX_TEXT = 256, 4096  # bytes
MAX_CHAIN = 100
REPEATED = r"(\[Previous line repeated )(\d{3,})"
HALF = 1000  # calls of a traceback's beginning, and of its end, that are shown


def _steps(trace, driver, file):
    """Returns the traceback without the frames of the driver's files above others, and the innermost line of the code in
    it, or 0."""
    ours = driver.rpartition("/")[0] + "/"
    line, first, last = 0, None, None
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not name.startswith(ours):
            if last is None:
                first = trace
            elif last.tb_next is not trace:
                last.tb_next = trace
            last = trace
        if name == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return first, line


def _fill_in(error):
    """Adds the source line of an error that the compiler found. The parser adds it itself, from a file."""
    from linecache import getline
    error.text = getline(error.filename, error.lineno or 0) or None


def _shorten(error):
    """
    Takes the middle out of a long traceback: traceback.py needs 0.1 ms for each call. Returns how many calls that are, and
    whether they are all the same.
    """
    steps, step = [], error.__traceback__
    while step is not None:
        steps.append(step)
        step = step.tb_next
    left_out = steps[HALF:-HALF]
    if not left_out:
        return 0, False
    steps[HALF - 1].tb_next = steps[-HALF]
    return len(left_out), len({(step.tb_frame.f_code, step.tb_lasti) for step in left_out}) == 1


def _chain(error):
    """The exceptions that are printed with this one."""
    chain = []
    while error is not None and len(chain) < MAX_CHAIN and not any(error is other for other in chain):
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain


def _suggested(text, error):
    """Adds what the interpreter's own output asks ("Did you mean: 'value'?"), and traceback.py before 3.12 does not."""
    if not isinstance(error, (AttributeError, NameError)):
        return text
    from io import StringIO
    kept, sys.stderr = sys.stderr, StringIO()
    try:
        sys.__excepthook__(type(error), error, error.__traceback__)
        printed = sys.stderr.getvalue().rstrip("\n").rpartition("\n")[2]
    finally:
        sys.stderr = kept
    last = text.rstrip("\n").rpartition("\n")[2]
    return text.rstrip("\n") + printed[len(last):] + "\n" if printed.startswith(last) else text


def _text(error):
    """The interpreter's own text. Of a long traceback it has both ends, and the number of all calls."""
    from traceback import format_exception
    left_out = [(number, same) for number, same in map(_shorten, _chain(error)) if number]
    text = _suggested("".join(format_exception(error)), error)
    if not left_out:
        return text
    number = sum(number for number, _ in left_out)
    if len(left_out) > 1 or not left_out[0][1]:
        return f"[{number} calls in the middle are left out]\n{text}"
    import re
    return re.sub(REPEATED, lambda found: f"{found[1]}{int(found[2]) + number}", text)


def _show(error, hook):
    try:
        if sys.excepthook is not hook:
            return sys.excepthook(type(error), error, error.__traceback__)
        sys.stderr.write(_text(error))
    except BaseException:
        sys.__excepthook__(type(error), error, error.__traceback__)


def _show_raised(head, raised, otherwise):
    """Prints an exception that cannot be caught. If that fails, the interpreter's own output has to suffice."""
    try:
        from traceback import format_exception_only
        error = raised.exc_value
        sys.stderr.write(head + (_text(error) if error is not None else "".join(format_exception_only(raised.exc_type, None))))
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


# The program's objects are freed where the interpreter would free them, in code of no file: "sys:1: RuntimeWarning: ..."
_drop = compile("error.__traceback__ = None", "sys", "exec")


def failure(error, hook, driver, file):
    """Prints the error and returns the payload of an ERROR frame.  hook: the original sys.excepthook; file: the code's name."""
    for other in _chain(error)[1:]:
        other.__traceback__, _ = _steps(other.__traceback__, driver, file)
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
    exec(_drop, {"error": error})
    return f"{_cut(name.replace(chr(10), ' '), MAX_TYPE)}\n{line}\n{_cut(text, MAX_TEXT)}".encode()
