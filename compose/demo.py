#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Shows cloister at work: an MCP client that uploads a CSV, runs a program on it and reads what it wrote.

    demo.py PATH-OF-CLOISTER     over stdio
    demo.py URL TOKEN-FILE       over HTTP

Exits 0 only if every answer was what the program must give; says in one line what was not.
"""

import base64
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

CSV = "city,celsius\n" + "".join(
    f"{city},{celsius}\n" for city, celsius in
    [("Oslo", 4.5), ("Cairo", 29.0), ("Lima", 19.5), ("Kyoto", 16.0), ("Nairobi", 21.0), ("Quito", 14.0)])

PROGRAM = """
import csv, statistics, time
rows = list(csv.DictReader(open("data/cities.csv")))
degrees = [float(row["celsius"]) for row in rows]
for step, row in enumerate(rows, 1):
    print(f"read {row['city']} ({step} of {len(rows)})", flush=True)
    time.sleep(0.1)
with open("report.md", "w") as report:
    report.write("| city | above the mean |\\n|---|---|\\n")
    for row in rows:
        report.write(f"| {row['city']} | {float(row['celsius']) > statistics.mean(degrees)} |\\n")
result = {"mean": round(statistics.mean(degrees), 2), "median": statistics.median(degrees),
          "stdev": round(statistics.stdev(degrees), 2)}
"""

EXPECTED = {"mean": 17.33, "median": 17.75, "stdev": 8.15}

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "cloister-demo", "version": "1"}}


def fail(why):
    """Ends the demonstration in one line."""
    sys.exit(f"quickstart: {why}")


class Client:
    """Requests to a server, whose answers are the lines that send() yields."""

    requests = 0

    def send(self, message):
        """Yields lines of JSON; the last one is the answer."""
        raise NotImplementedError

    def ask(self, method, **params):
        """Sends a request, prints its progress, returns its result."""
        self.requests += 1
        meta = dict(META, progressToken=self.requests)
        message = {"jsonrpc": "2.0", "id": self.requests, "method": method, "params": dict(params, _meta=meta)}
        for line in self.send(message):
            answer = json.loads(line)
            if answer.get("method") == "notifications/progress":
                print("   ", answer["params"].get("message", "").rstrip())
            elif answer.get("id") == self.requests:
                if "error" in answer:
                    fail(f"{method}: {answer['error']['message']}")
                return answer["result"]
        fail(f"the server sent no answer to {method}")

    def call(self, tool, **arguments):
        """Calls a tool and returns its structured result."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            fail(f"{tool}: {result['content'][0]['text']}")
        return result["structuredContent"]


class StdioClient(Client):
    """One `cloister serve`."""

    place = "stdio"

    def __init__(self, cloister):
        self.server = subprocess.Popen([cloister, "serve", "--log-level=warn"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, message):
        self.server.stdin.write(json.dumps(message).encode() + b"\n")
        self.server.stdin.flush()
        while True:
            line = self.server.stdout.readline()
            if not line:
                fail(f"cloister serve ended with status {self.server.wait()} before it answered {message['method']}")
            yield line

    def close(self):
        """Ends the server as a client does: by closing its stdin."""
        self.server.stdin.close()
        if self.server.wait(timeout=30) != 0:
            fail("cloister serve did not end with status 0")


class HttpClient(Client):
    """A server that runs already."""

    def __init__(self, url, token_file):
        self.url = self.place = url
        with open(token_file, encoding="ascii") as file:
            self.token = file.read().strip()

    def send(self, message):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                   "Authorization": "Bearer " + self.token, "Mcp-Method": message["method"],
                   "MCP-Protocol-Version": META["io.modelcontextprotocol/protocolVersion"]}
        if "name" in message["params"]:
            headers["Mcp-Name"] = message["params"]["name"]
        if "session_id" in message["params"].get("arguments", {}):
            headers["Mcp-Param-Session-Id"] = message["params"]["arguments"]["session_id"]
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url, json.dumps(message).encode(), headers), timeout=60) as reply:
                for line in reply:
                    if line.startswith((b"{", b"data: {")):
                        yield line.removeprefix(b"data: ")
        except urllib.error.HTTPError as error:
            fail(f"{self.url}: {error}: {error.read(500).decode(errors='replace')}")
        except OSError as error:
            fail(f"{self.url}: {error}")

    def close(self):
        """Nothing is left open."""


def show_isolation(isolation):
    """Prints each layer in force, and each that this host could not provide."""
    print(f"\nIsolation in force ({isolation['backend']}, limits by {isolation['limits_by']}):")
    for layer in isolation["layers"]:
        print("  +", layer)
    for layer in isolation["missing"]:
        print("  - not in force:", layer)


def show_snippets(cloister):
    """Prints the entry for a client, as `cloister config` does."""
    print("\nFor Claude Desktop (claude_desktop_config.json) and most other clients:", flush=True)
    subprocess.run([cloister, "config", "claude-desktop"], stderr=subprocess.DEVNULL, check=True)
    print(f"{cloister} config CLIENT --write adds it for\n"
          "claude-desktop, claude-code, cursor, vscode or codex, and keeps the other entries.")


def main():
    client = HttpClient(*sys.argv[1:]) if len(sys.argv) == 3 else StdioClient(os.path.abspath(sys.argv[1]))
    server = client.ask("server/discover")["_meta"]["io.modelcontextprotocol/serverInfo"]
    print(f"\nConnected to {server['name']} {server['version']} over MCP ({client.place}).")
    uploaded = client.call("sandbox_upload_file", filename="data/cities.csv", overwrite=True,
                           content_base64=base64.b64encode(CSV.encode()).decode())
    session = uploaded["session_id"]
    print(f"Uploaded {uploaded['path']} ({uploaded['size']} bytes). Running a program on it:")
    run = client.call("execute_code", code=PROGRAM, session_id=session)
    if run["result"] != EXPECTED:
        fail(f"the program's result is {run['result']}, expected {EXPECTED}")
    print(f"Result: {json.dumps(run['result'])} in {run['usage']['wall_ms']:.1f} ms")
    report = client.call("sandbox_read_artifact", session_id=session, path="report.md")
    listed = {artifact["filename"]: artifact["sha256"] for artifact in run["artifacts"]}
    if listed.get("report.md") != report["sha256"]:
        fail(f"report.md is not among the artifacts {listed} with the digest it is read with")
    print(f"Artifact report.md, SHA-256 {report['sha256']}:")
    print(base64.b64decode(report["content_base64"]).decode())
    show_isolation(run["isolation"])
    client.call("sandbox_close_session", session_id=session)
    client.close()
    if len(sys.argv) == 2:
        show_snippets(os.path.abspath(sys.argv[1]))


main()
