# SPDX-License-Identifier: Apache-2.0
"""zygote_stand_in.py DIRECTORY DESCRIPTOR MODULES - runs DIRECTORY/zygote.py with a _zygote that forks on this test's order.

An order is a directory and four descriptors, for 0 to 3; the answer is the fork's process.  "?" asks for the end of the
next child: its process and exit code.
"""

import ctypes
import os
import select
import socket
import sys


class StandIn:
    def __init__(self, fd):
        self.socket = socket.socket(fileno=fd)

    def serve(self):
        while True:
            directory, fds, _, _ = socket.recv_fds(self.socket, 4096, 4)
            if not directory:
                os._exit(0)
            if directory == b"?":
                pid, status = os.wait()
                self.socket.send(f"{pid} {os.waitstatus_to_exitcode(status)}".encode())
                continue
            pid = os.fork()
            if pid == 0:
                return self.born(directory, fds)
            for fd in fds:
                os.close(fd)
            self.socket.send(str(pid).encode())

    @staticmethod
    def wanted():
        control = socket.socket(fileno=os.dup(3))
        try:
            return control.recv(5, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b"W\0\0\0\0" and bool(control.recv(5))
        except BlockingIOError:
            return False
        finally:
            control.close()

    @staticmethod
    def line_up():
        pass

    @staticmethod
    def spared(hook):
        return hook

    @staticmethod
    def direct(address):
        return ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(address)

    @staticmethod
    def calm(ms):
        return not select.select([3], [], [], ms / 1000)[0]

    def born(self, directory, fds):
        os.setsid()
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
            os.close(fd)
        self.socket.close()
        os.chdir(directory)
        return [f"{name}={value}" for name, value in os.environ.items()]


def main():
    path = os.path.join(sys.argv[1], "zygote.py")
    stand_in = StandIn(int(sys.argv[2]))
    sys.argv[1:] = sys.argv[3:]
    with open(path, encoding="utf-8") as file:
        source = file.read()
    program = source.removesuffix("main()\n")
    assert program != source
    scope = {"__name__": "__main__", "__file__": path}
    exec(compile(program, path, "exec"), scope)
    scope["load_extension"] = lambda name: stand_in
    scope["main"]()


main()
