# SPDX-License-Identifier: Apache-2.0
"""The daemons of a build as if on different machines: TCP with CURVE, on loopback ports."""

import socket
import time

import daemons
import peers


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


# Every name is looked up before the jail; localhost, which needs /etc/hosts, proves that.
def flags(keys):
    ports = dict(zip(daemons.SERVERS, free_ports(len(daemons.SERVERS))))
    made = {name: ["--keys=" + keys, f"--listen=tcp://127.0.0.1:{port}"] for name, port in ports.items()}
    made["gateway"] = ["--keys=" + keys]
    for client, server in peers.EDGES:
        made[client].append(f"--connect-{server}=tcp://localhost:{ports[server]}")
    return made


# The address at which a server listens.
def place(made, name):
    return next(flag.removeprefix("--listen=") for flag in made[name] if flag.startswith("--listen="))


class Far(daemons.Cluster):
    def _wait_ready(self, name, timeout):
        end = time.monotonic() + timeout
        while '"text":"ready"' not in self.log(name):
            if self.processes[name].poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{name} is not ready:\n{self.log(name)[-2000:]}")
            time.sleep(0.01)
