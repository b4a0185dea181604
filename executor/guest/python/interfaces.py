# SPDX-License-Identifier: Apache-2.0
"""interfaces.py - socket.if_nameindex() in a box, which answers no netlink. driver.py loads this file when socket is imported."""


def lend(socket):
    listed = socket.if_nameindex

    def if_nameindex():
        try:
            return listed()
        except OSError:
            return [(index, name) for index, name in enumerate(("lo",), 1) if socket.if_nametoindex(name) == index]

    socket.if_nameindex = if_nameindex
