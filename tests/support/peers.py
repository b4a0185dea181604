# SPDX-License-Identifier: Apache-2.0
"""The daemons and their edges, as common/table/peers.def and common/table/edges.def list them."""

import collections
import os
import re

TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "common", "table")
Peer = collections.namedtuple("Peer", "name directory life state open_files kept_files doc")


def _rows(file, macro):
    with open(os.path.join(TABLES, file), encoding="utf-8") as table:
        for row in re.findall(rf"^{macro}\((.*)\)$", table.read(), re.M):
            yield [column.strip(' "') for column in re.findall(r'"[^"]*"|[^,\s][^,]*', row)]


PEERS = {peer.name: peer for peer in (Peer(*row) for row in _rows("peers.def", "PEER"))}
EDGES = [(client, server) for client, server, _ in _rows("edges.def", "EDGE")]
# In the order of starting.
RESIDENT = [peer.name for peer in PEERS.values() if peer.life == "RESIDENT"]
WITH_STATE = [peer.name for peer in PEERS.values() if peer.state != "NO_STATE"]


def first_edge(server):
    return next(f"{client}-{name}" for client, name in EDGES if name == server)


# In the order of starting.
def servers_of(client):
    return [name for name in RESIDENT if (client, name) in EDGES]


def first_client(server):
    return next(client for client, name in EDGES if name == server)


def messages_of(client, server):
    """The messages that this client may send to it, as the routes of its main.c list them."""
    path = os.path.join(TABLES, "..", "..", PEERS[server].directory, "main.c")
    with open(path, encoding="utf-8") as source:
        return [name for name, clients in re.findall(r"\{ MSG_(\w+), (FROM[^,]*),", source.read()) if f"FROM({client})" in clients]
