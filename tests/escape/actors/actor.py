# SPDX-License-Identifier: Apache-2.0
"""Performs each line of the file `rows` (name, action, words, separated by tabs) and prints its name and errno."""
import errno
import os
import socket
import stat


def near(family, kind, address):
    with socket.socket(family, kind) as sock:
        sock.settimeout(5)
        sock.connect(address)


def start(program, *words):
    pid = os.fork()
    if pid == 0:
        try:
            os.execv(program, [program, *words])
        except OSError as error:
            os._exit(error.errno)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status != 0:
        raise OSError(status, "")


def variable(name):
    if name not in os.environ:
        raise OSError(errno.ENOENT, "")


ACTIONS = {
    "read": lambda path: os.read(os.open(path, os.O_RDONLY), 64),
    "write": lambda path: os.close(os.open(path, os.O_WRONLY)),
    "create": lambda path: os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)),
    "list": os.listdir,
    "folder": os.mkdir,
    "remove": os.unlink,
    "rename": os.rename,
    "link": lambda old, new: os.link(old, new, follow_symlinks=True),
    "via": lambda target, name: (os.symlink(target, name), os.read(os.open(name, os.O_RDONLY), 64)),
    "mode": lambda mode, path: os.chmod(path, int(mode, 8)),
    "own": lambda path: os.chown(path, 0, 0),
    "node": lambda path: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3)),
    "kill": lambda pid: os.kill(int(pid), 15),
    "tcp": lambda host, port: near(socket.AF_INET, socket.SOCK_STREAM, (host, int(port))),
    "udp": lambda host, port: near(socket.AF_INET, socket.SOCK_DGRAM, (host, int(port))),
    "unix": lambda path: near(socket.AF_UNIX, socket.SOCK_STREAM, path.replace("@", "\0", 1)),
    "start": start,
    "variable": variable,
}
with open("rows", encoding="ascii") as rows:
    for row in rows:
        name, action, *words = row.rstrip("\n").split("\t")
        try:
            ACTIONS[action](*words)
            print(name, "done", flush=True)
        except OSError as error:
            print(name, errno.errorcode.get(error.errno, error.errno), flush=True)
