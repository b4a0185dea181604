# SPDX-License-Identifier: Apache-2.0
"""What images, compose.yaml and Kubernetes manifests need of the tables of daemons and edges.  As a program: names and uids."""

import os
import re
import zlib

TABLES = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "common", "table")


def _rows(file, macro):
    with open(os.path.join(TABLES, file), encoding="utf-8") as table:
        for row in re.findall(rf"^{macro}\((.*)\)$", table.read(), re.M):
            yield [column.strip(' "') for column in re.findall(r'"[^"]*"|[^,\s][^,]*', row)]


# Daemons without a container, and why; each README of a deployment says so.
NOT_DEPLOYED = {"egress": "it needs the run directory of its executor; boxes of these deployments have no network",
                "secretd": "it serves connections of egress"}
ALL_PEERS = {row[0]: dict(zip(("directory", "life", "state", "open_files", "kept_files", "doc"), row[1:]))
             for row in _rows("peers.def", "PEER")}
PEERS = {name: peer for name, peer in ALL_PEERS.items() if name not in NOT_DEPLOYED}
# A daemon that starts as root wants a group for each of its edges, whether or not the server is there.
ALL_EDGES = [(client, server) for client, server, _ in _rows("edges.def", "EDGE")]
EDGES = [edge for edge in ALL_EDGES if not NOT_DEPLOYED.keys() & set(edge)]
# The daemon whose image has interpreters, and the only one that is privileged.
GUESTS = ["executor"]
WITHOUT_GUESTS = [name for name in PEERS if name not in GUESTS]
# Volumes belong to these uids, so a uid depends on nothing but the daemon's name.
FIRST_UID, LAST_UID = 20000, 29999
UIDS = {name: FIRST_UID + zlib.crc32(name.encode()) % (LAST_UID - FIRST_UID) for name in PEERS}
# Each daemon has an address of its own.
PORT = 7000
SERVERS = [name for name in PEERS if any(server == name for _, server in EDGES)]


def servers_of(client):
    return [server for name, server in EDGES if name == client]


def clients_of(server):
    return [client for client, name in EDGES if name == server]


if __name__ == "__main__":
    for daemon, uid in UIDS.items():
        print(daemon, uid)
