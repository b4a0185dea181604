# SPDX-License-Identifier: Apache-2.0
"""The gateway compared with the official TypeScript server, alternating in one run: time from start to first reply, memory,
and calls that use no box, over stdio and HTTP, by a client in C. An echo server that parses nothing is the upper bound: no
server can be faster.
"""

import json
import os
import subprocess
import sys
import time

from daemons import MODERN, Cluster, Served
import figures
import tools

META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
SERVER = "tests/bench/typescript_server.mjs"
OURS, THEIRS, ECHOES = "cloister", "TypeScript", "echo"
TIMES, BUDGET_MS, BUDGET_MB = 5, 10, 15
# Concurrent requests: one, and enough that the server always has one to read.
DEPTHS = (1, 16)


def message(method, **params):
    """A request in which bench_load fills in the id."""
    text = json.dumps({"jsonrpc": "2.0", "id": "ID", "method": method, "params": {**params, "_meta": META}}, separators=(",", ":"))
    return text.replace('"ID"', "0000000000")


def tool(name, **arguments):
    return ("tools/call", name, message("tools/call", name=name, arguments=arguments))


ECHO = tool("echo", text="hello")
# The compared calls of ours and theirs: only the protocol, a tool of the server itself, and a tool served by a daemon.
ROWS = {
    "server/discover": (("server/discover", None, message("server/discover")), ("server/discover", None, message("server/discover"))),
    "tools/call of the server's own": (tool("test_simple_text"), ECHO),
    "tools/call of a daemon's": (tool("list_runtimes"), ECHO),
}
# Our reply comes from another process over the bus; theirs comes from the server's own process.
UNEQUAL = ("tools/call of a daemon's",)


def read_memory(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
        return next(int(line.split()[1]) / 1024 for line in rollup if line.startswith("Rss:"))


class Peer:
    """A server whose command takes "stdio", or "http" and then prints its port."""

    def __init__(self, command):
        self.command, self.stdio = command, command("stdio")

    # The processes whose processor time counts, besides those that bench_load starts.
    def pids(self, transport):
        return str(self.process.pid) if transport == "http" else ""

    def __enter__(self):
        self.process = subprocess.Popen(self.command("http"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.port = self.process.stdout.readline().strip()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        self.process.stdout.close()


class Ours:
    """All daemons and gateways; the gateway with the suite's fixtures has a tool that needs no daemon."""

    def __init__(self, build):
        self.cluster = Cluster(os.path.join(build, "bin"))
        self.program = os.path.join(build, "bin", "cloister-gateway")
        if os.path.exists(self.program + "-fixtures"):
            self.program += "-fixtures"

    def pids(self, transport):
        daemons = [process.pid for process in self.cluster.processes.values()]
        return ",".join(map(str, daemons + ([self.process.pid] if transport == "http" else [])))

    def __enter__(self):
        self.cluster.__enter__()
        self.stdio = [self.program, *self.cluster.command("gateway")[1:], "--log-level=error"]
        # Reads the port from the log.
        self.server = Served([self.program, *self.cluster.command("gateway")[1:]], self.cluster.env, self.cluster.directory)
        self.process, self.port = self.server.process, self.server.url.split(":")[2].split("/")[0]
        return self

    def __exit__(self, *_):
        self.server.stop()
        self.cluster.__exit__()


def load(program, side, transport, depth, seconds, call):
    method, name, text = call
    head = [program, transport, str(depth), str(seconds), side.pids(transport), text]
    if transport == "stdio":
        command = head + side.stdio
    else:
        headers = f"MCP-Protocol-Version: {MODERN}\r\nMcp-Method: {method}\r\n" + (f"Mcp-Name: {name}\r\n" if name else "")
        command = head + [side.port, headers]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command[:4])}: {ran.stderr[-2000:]}")
    return json.loads(ran.stdout)


def rates(program, sides, rounds, seconds):
    """For each row, transport and depth: the median rate of each side and the latencies of all rounds."""
    found = []
    for what, (our, their) in ROWS.items():
        if our[1] == "test_simple_text" and not sides[OURS].program.endswith("fixtures"):
            continue
        calls = {OURS: our, THEIRS: their, ECHOES: our}
        for transport in ("stdio", "http"):
            for depth in DEPTHS:
                seen = {name: [] for name in sides}
                for _ in range(rounds):
                    for name, side in sides.items():
                        seen[name].append(load(program, side, transport, depth, seconds, calls[name]))
                found.append({"what": what, "transport": transport, "depth": depth, **{
                    side: {key: figures.quantile([one[key] for one in all_], 0.5) for key in ("rate", "p50_ms", "p99_ms", "cpu_us")}
                    for side, all_ in seen.items()}})
    return found


def starts(side, count):
    """Milliseconds from the start over stdio to the reply to server/discover, and resident MB at that time."""
    ask = message("server/discover").replace("0000000000", "1").encode() + b"\n"
    times, sizes = [], []
    for _ in range(count):
        began = time.perf_counter()
        process = subprocess.Popen(side.stdio, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdin.write(ask)
        process.stdin.flush()
        if "result" not in json.loads(process.stdout.readline()):
            sys.exit("no answer to server/discover")
        times.append((time.perf_counter() - began) * 1000)
        sizes.append(read_memory(process.pid))
        process.stdin.close()
        process.wait(30)
        process.stdout.close()
    return {"p50_ms": figures.quantile(times, 0.5), "p99_ms": figures.quantile(times, 0.99), "rss_mb": figures.quantile(sizes, 0.5)}


def judge(begun, sizes, rows):
    yield figures.budget("server/discover after the start, p50", "most", BUDGET_MS, begun[OURS]["p50_ms"], " ms")
    yield figures.budget("resident over HTTP after all calls", "most", BUDGET_MB, sizes[OURS], " MB")
    for row in rows:
        if row["what"] in UNEQUAL:
            continue
        name = f"{row['what']}, {row['transport']}, {row['depth']} at once"
        yield figures.budget(name + ": rate", "least", TIMES, row[OURS]["rate"] / row[THEIRS]["rate"], " x theirs",
                             ("an echo", row[ECHOES]["rate"] / row[THEIRS]["rate"]))
        yield figures.budget(name + ": p99", "most", 1, row[OURS]["p99_ms"] / row[THEIRS]["p99_ms"], " x theirs")


def tell(begun, sizes, rows, budgets):
    figures.heading("started over stdio, then resident; over HTTP after all calls below")
    figures.table(["server", "discover p50 ms", "p99 ms", "RSS MB", "RSS MB over HTTP"],
                  [[side, f"{one['p50_ms']:.1f}", f"{one['p99_ms']:.1f}", f"{one['rss_mb']:.1f}", f"{sizes[side]:.1f}"]
                   for side, one in begun.items()])
    figures.heading("calls that touch no box, by a client in C that shares the processors; medians of rounds in turn; CPU: of the server and its daemons, a call")
    figures.table(["call", "over", "at once", "cloister /s", "p50 ms", "p99 ms", "CPU us", "TypeScript /s", "p50 ms", "p99 ms", "CPU us", "rate", "CPU", "echo /s"],
                  [[row["what"], row["transport"], row["depth"], *(
                      cell for side in (OURS, THEIRS) for cell in (f"{row[side]['rate']:.0f}", f"{row[side]['p50_ms']:.3f}",
                                                                   f"{row[side]['p99_ms']:.3f}", f"{row[side]['cpu_us']:.1f}")),
                    f"{row[OURS]['rate'] / row[THEIRS]['rate']:.1f} x", f"1/{row[THEIRS]['cpu_us'] / row[OURS]['cpu_us']:.1f}", f"{row[ECHOES]['rate']:.0f}"]
                   for row in rows])
    figures.tell_budgets(budgets)


def run(build, count, rounds, seconds):
    program = os.path.join(build, "bin", "bench_load")
    echo = os.path.join(build, "bin", "bench_echo")
    with Ours(build) as ours, Peer(lambda way: tools.node(SERVER, way)) as theirs, Peer(lambda way: [echo, way]) as echoes:
        sides = {OURS: ours, THEIRS: theirs, ECHOES: echoes}
        begun = {name: starts(side, count) for name, side in sides.items()}
        rows = rates(program, sides, rounds, seconds)
        sizes = {name: read_memory(side.process.pid) for name, side in sides.items()}
    budgets = list(judge(begun, sizes, rows))
    tell(begun, sizes, rows, budgets)
    return {"starts": begun, "memory_mb": sizes, "calls": rows, "budgets": budgets}
