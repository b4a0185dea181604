#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Programs with a network have all ports of their box for their own servers, also those that they may reach outside.

    own_servers.py BIN

Needs no root: egress's settings permit an address of this host's loopback, where this test's servers are.
"""

import os
import socketserver
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
import cases  # noqa: E402
import daemons  # noqa: E402
from egress import Dns, Server, Web  # noqa: E402

HOST = "127.77.53.1"
DNS, PORT = 5355, 8085

SERVED = """
import http.server, os, socket, threading, urllib.request
class Own(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"my own")
    def log_message(self, *_): pass
class Six(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
def serve(address, port):
    server = (Six if ":" in address else http.server.ThreadingHTTPServer)((address, port), Own)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
def get(host, port=PORT):
    return urllib.request.urlopen(f"http://{host}:{port}/", timeout=10).read().decode()
def why(host, port):
    try: return socket.create_connection((host, port), 10).recv(1)
    except OSError as error: return type(error).__name__
""".replace("PORT", str(PORT))


def run(cluster, code, **more):
    arguments = {"code": SERVED + code, "allowed_domains": [f"web.test:{PORT}"], "timeout": 30, **more}
    return cluster.call("execute_code", arguments)["structuredContent"]


def test_a_port_that_is_also_reached_outside(cluster):
    for address in "0.0.0.0", "127.0.0.1", "::", "::1":
        end = run(cluster, f"serve('{address}', {PORT})\nprint(get('{'[::1]' if ':' in address else '127.0.0.1'}'), '/', get('web.test'))")
        assert end["stdout"] == f"my own / hello over {PORT}\n", (address, end)
        assert end["usage"]["network"]["connections"] == 1, end["usage"]


def test_ports_80_and_443(cluster):
    end = run(cluster, "for port in 80, 443: print(why('127.0.0.1', port), serve('0.0.0.0', port) and get('127.0.0.1', port), get('web.test'))")
    assert end["stdout"] == f"ConnectionRefusedError my own hello over {PORT}\n" * 2, end


def test_addresses_that_stand_for_no_name(cluster):
    end = run(cluster, f"print(why('198.18.0.9', {PORT}), why('198.18.0.9', 9999), why('198.19.0.2', {PORT}), why('198.18.77.1', {PORT}))")
    assert end["stdout"] == "ConnectionResetError ConnectionRefusedError OSError OSError\n", end
    assert f"198.18.0.9:{PORT} (this address stands for no name)" in str(end["notes"]), end


def test_a_session_keeps_its_servers(cluster):
    """Each run has listeners of its own, behind the same link; without a network the program's server stays."""
    session = cluster.call("create_session")["structuredContent"]["session_id"]
    end = run(cluster, f"own = serve('0.0.0.0', {PORT})\nprint(get('web.test'))", session_id=session)
    assert end["stdout"] == f"hello over {PORT}\n", end
    for _ in range(2):
        end = run(cluster, "print(get('127.0.0.1'), get('web.test'))", session_id=session)
        assert end["stdout"] == f"my own hello over {PORT}\n", end
    end = run(cluster, f"print(get('127.0.0.1'), why('web.test', {PORT}))", session_id=session, allowed_domains=None)
    assert end["stdout"] == "my own gaierror\n", end


def test_other_languages(cluster):
    node = f"""
import http from 'http';
const server = http.createServer((request, response) => response.end('my own'));
await new Promise((done, failed) => server.listen({PORT}, done).on('error', failed));
const get = async host => (await fetch(`http://${{host}}:{PORT}/`)).text();
console.log(await get('localhost'), await get('web.test'));
server.close();
"""
    end = cluster.call("execute_code", {"code": node, "language": "javascript", "allowed_domains": [f"web.test:{PORT}"], "timeout": 30})
    assert end["structuredContent"]["stdout"] == f"my own hello over {PORT}\n", end


def test_no_other_machine_is_nearer(cluster):
    """The link leads to egress's listeners only: no route, no socket of the host, no other port."""
    end = run(cluster, f"print(why('{HOST}', {PORT}), why('10.0.0.1', 80), why('169.254.169.254', 80), why('198.19.0.1', 22))")
    assert end["stdout"] == "ConnectionRefusedError OSError OSError ConnectionRefusedError\n", end


def main():
    servers = [socketserver.ThreadingUDPServer((HOST, DNS), Dns), Server((HOST, PORT), Web)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    flags = {"executor": [f"--egress-domains=web.test,web.test:{PORT}"],
             "egress": [f"--resolver={HOST}:{DNS}", f"--allowed-networks={HOST}/32"]}
    with daemons.Cluster(sys.argv[1], flags=flags) as cluster:
        cases.end(cases.play(sys.modules[__name__], cluster))


if __name__ == "__main__":
    main()
