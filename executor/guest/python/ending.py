# SPDX-License-Identifier: Apache-2.0
"""ending.py - the visible parts of the interpreter's own shutdown: threads, logs, open files, output, modules."""

import _io
import gc
import itertools
import os
import sys

flushes = {}  # by library, None if it is not loaded; a search for one takes 0.3 ms


def close_logs():
    """Does logging's exit work, which a zygote unregistered: each page that it reads costs a fork."""
    logging = sys.modules.get("logging")
    if logging and len(logging._handlerList) > 1:  # there is always one, which buffers nothing
        logging.shutdown()


def does_nothing(call):
    """Is it the function by which concurrent.futures ends its threads, of which there are none? Calling it costs 60 pages."""
    futures = sys.modules.get("concurrent.futures.thread")
    return futures is not None and call.func is futures._python_exit and not futures._threads_queues


def awaits_threads():
    """True if the program must wait for threads, or something must be done before it waits for them."""
    threading = sys.modules.get("threading")
    try:
        return threading is not None and (not all(map(does_nothing, threading._threading_atexits))
                                          or any(lock.locked() for lock in threading._shutdown_locks - {threading._main_thread._tstate_lock}))
    except AttributeError:  # another version of threading
        return True


def has_children():
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) or True
    except ChildProcessError:
        return False


def open_files(kinds=(_io._BufferedIOBase, _io._TextIOBase)):
    """The files that are still referenced; without an argument, those of the interpreter's own types."""
    own = kinds is not _io._IOBase
    return [thing for thing in gc.get_objects() if issubclass(type(thing), kinds)
            and (not own or type(thing).__module__ == "_io")]


def save_files(files):
    """Writes the files out, upper layers first."""
    for file in sorted(files, key=lambda file: 0 if hasattr(type(file), "buffer") else 1 + (type(file).__module__ == "_io")):
        try:
            file.flush() if type(file).__module__ == "_io" else file.close()
        except BaseException:
            pass


def loaded(last):
    """The modules that the program loaded, after `last`. In a fork, reading each of the others costs a copy of its page."""
    return list(itertools.takewhile(lambda name: name != last, reversed(sys.modules)))


def loaded_native(last):
    """True if the program loaded libraries that may have exit(3) handlers."""
    names = loaded(last)
    if "ctypes" in names:
        return True
    files = (getattr(sys.modules[name], "__file__", None) for name in names)
    return any(str(file).endswith(".so") and "/lib-dynload/" not in str(file) for file in files)


def forget(names):
    """Drops the main module, and of the named ones those that are in the workspace."""
    here = sys.path[0] if sys.path and isinstance(sys.path[0], str) else "/"
    for name in names:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(here + "/"):
            del sys.modules[name]
    sys.modules.pop("__main__", None)


def find(library, flush):
    try:
        return sys.modules["ctypes"].PyDLL(library, os.RTLD_NOLOAD | os.RTLD_NOW if library else 0)[flush]
    except (OSError, AttributeError):
        return None


def flush_native(native=True, texts=None):
    """If ctypes is loaded, there may be C or Fortran code with buffers of its own. A library that was not loaded is searched
    again only if the program loaded native modules, or its texts name ctypes."""
    if "ctypes" not in sys.modules:
        return
    again = native or any("ctypes" in text for text in texts.values())
    for library, flush in (None, "fflush"), ("libgfortran.so.5", "_gfortran_flush_i4"):
        if library not in flushes or (again and flushes[library] is None):
            flushes[library] = find(library, flush)
        if flushes[library] is not None:
            flushes[library](None)
