# SPDX-License-Identifier: Apache-2.0
"""Cgroups in which the daemons are started, laid out as systemd does it, and those in which boxes must then be."""

import ctypes
import os
import typing

CLONE_NEWNS, CLONE_NEWCGROUP = 0x20000, 0x2000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MNT_DETACH = 1, 32, 4096, 2
ROOT = "/sys/fs/cgroup"
NEEDED = "memory limit", "process limit", "cpu limit"  # layers


class Place(typing.NamedTuple):
    """A cgroup for processes of a user, and the one below which the builder makes its own."""

    name: str
    group: str
    above: str
    user: int = 0
    delegated: tuple = ()  # cgroups that belong to the user
    controllers: bool = False  # its cgroup has them, as Delegate= of systemd and container runtimes give them
    contained: bool = False  # a container: its cgroup is the root that it sees, and read-only

    def make(self):
        os.makedirs(ROOT + self.group, exist_ok=True)
        if self.controllers:
            control(self.group, "+cpu +memory +pids")
        for group in self.delegated:
            control(group, "+cpu +memory +pids")
            for name in "", "/cgroup.procs", "/cgroup.threads", "/cgroup.subtree_control":
                os.chown(ROOT + group + name, self.user, self.user)

    def enter(self):
        """In a child, before it becomes another program."""
        with open(f"{ROOT}{self.group}/cgroup.procs", "w", encoding="ascii") as file:
            file.write("0")
        if self.contained:
            contain()
        self.become()

    def become(self):
        os.setgroups([])
        os.setresgid(self.user, self.user, self.user)
        os.setresuid(self.user, self.user, self.user)

    def prefix(self):
        """The words before a command that is to run there as root."""
        self.make()
        return "/bin/sh", "-c", f'echo 0 >{ROOT}{self.group}/cgroup.procs && exec "$@"', "sh"


def contain():
    """Namespaces of cgroups and mounts, and a read-only mount, as container runtimes make them."""
    libc, root = ctypes.CDLL(None, use_errno=True), ROOT.encode()
    for made in (lambda: libc.unshare(CLONE_NEWNS | CLONE_NEWCGROUP), lambda: libc.umount2(root, MNT_DETACH),
                 lambda: libc.mount(b"cgroup", root, b"cgroup2", 0, None),
                 lambda: libc.mount(None, root, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None)):
        if made() != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def control(group, controllers):
    """Gives the controllers to a cgroup, and to those above it."""
    path = ROOT
    for name in ["", *group.split("/")[1:-1]]:
        path = os.path.join(path, name)
        with open(os.path.join(path, "cgroup.subtree_control"), "w", encoding="ascii") as file:
            file.write(controllers)


MANAGER = "/user.slice/user-1000.slice/user@1000.service"
SERVED = (
    Place("at the root", "/", ""),
    Place("in a service", "/system.slice/cloister.service", "/system.slice"),
    Place("of a user", MANAGER + "/app.slice/cloister.service", MANAGER + "/app.slice", 1000,
          (MANAGER, MANAGER + "/app.slice", MANAGER + "/app.slice/cloister.service")),
)
CONTAINED = Place("in a container", "/docker/1", "/docker/1", controllers=True, contained=True)
ALONE = Place("alone", "/system.slice/cloister-executor.service", "/system.slice/cloister-executor.service", controllers=True)


def read(*path):
    with open(os.path.join(*path), encoding="ascii") as file:
        return file.read().strip()


def test_alone(box):
    """Its processes moved down, so that their cgroup can give controllers to those of boxes."""
    assert box.isolation["limits_by"] == "cgroup2" and not set(NEEDED) - set(box.isolation["layers"]), box.isolation
    assert os.path.isdir(f"{ROOT}{ALONE.above}/cloister-0"), os.listdir(ROOT + ALONE.above)
    assert read(f"/proc/{box.process.pid}/cgroup") == f"0::{ALONE.group}/daemon"
