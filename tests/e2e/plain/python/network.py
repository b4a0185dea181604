# SPDX-License-Identifier: Apache-2.0
# Sockets on loopback, HTTP and TLS.
#: program a TCP server and its client
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
def serve():
    connection, peer = server.accept()
    with connection:
        connection.sendall(connection.recv(100).upper())
threading.Thread(target=serve).start()
with socket.create_connection(server.getsockname()) as client:
    client.sendall(b"hello")
    print(client.recv(100), client.recv(1))
#: program datagrams
import socket
a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
a.bind(("127.0.0.1", 0))
b.sendto(b"x", a.getsockname())
print(a.recvfrom(10)[0])
a.settimeout(0.01)
try:
    a.recv(1)
except TimeoutError as error:
    print(repr(error))
#: program IPv6 loopback
import socket
with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
    with socket.create_connection(server.getsockname()[:2]) as client:
        print(client.getpeername()[0], socket.has_ipv6)
#: program sockets of Unix
import os, socket
with socket.socket(socket.AF_UNIX) as server:
    server.bind("s")
    server.listen()
    client = socket.socket(socket.AF_UNIX)
    client.connect("s")
    connection, _ = server.accept()
    reader, writer = os.pipe()
    socket.send_fds(client, [b"fd"], [writer])
    message, fds, _, _ = socket.recv_fds(connection, 10, 1)
    os.write(fds[0], b"passed")
    print(message, os.read(reader, 10), oct(os.stat("s").st_mode))
one, two = socket.socketpair()
one.send(b"pair")
print(two.recv(4))
#: program abstract sockets
import socket
with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
    server.bind("\0name")
    server.listen()
    client.connect("\0name")
    print(server.getsockname())
#: program nobody listens
import socket
try:
    socket.create_connection(("127.0.0.1", 1), 1)
except OSError as error:
    print(repr(error))
#: program a port that is in use
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    try:
        socket.create_server(server.getsockname())
    except OSError as error:
        print(error.errno, error.strerror)
#: program names of loopback
import socket
print(socket.gethostbyname("localhost"), socket.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM), socket.inet_aton("1.2.3.4"))
print(socket.getservbyname("https"), socket.getprotobyname("tcp"), socket.getfqdn("localhost"), bool(socket.gethostbyname(socket.gethostname())))
#: program names of hosts that do not exist
import socket
try:
    socket.getaddrinfo("does-not-exist.invalid", 80)
except socket.gaierror as error:
    print("no such host")
#: program interfaces
import socket
print(socket.if_nameindex()[0])
#: program an HTTP server and urllib
import http.server, json, threading, urllib.error, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/ok" else 404)
        self.end_headers()
        self.wfile.write(json.dumps({"path": self.path}).encode())
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.end_headers()
        self.wfile.write(body[::-1])
    def log_message(self, form, *arguments):
        print("log:", form % arguments)
with http.server.ThreadingHTTPServer(("localhost", 0), Handler) as server:
    threading.Thread(target=server.serve_forever).start()
    url = f"http://localhost:{server.server_port}"
    print(json.load(urllib.request.urlopen(url + "/ok")), urllib.request.urlopen(url, data=b"abc").read())
    try:
        urllib.request.urlopen(url + "/no")
    except urllib.error.HTTPError as error:
        print(error, error.read())
    server.shutdown()
#: program http.client and files that are served
import functools, http.client, http.server, os, threading
os.mkdir("site")
open("site/a.json", "w").write("{}")
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="site")
handler.func.log_message = lambda *_: None
with http.server.HTTPServer(("127.0.0.1", 0), handler) as server:
    threading.Thread(target=server.serve_forever).start()
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    connection.request("GET", "/a.json")
    reply = connection.getresponse()
    print(reply.status, reply.getheader("Content-Type"), reply.read())
    connection.request("HEAD", "/missing")
    print(connection.getresponse().status)
    connection.close()
    server.shutdown()
#: program asyncio streams
import asyncio
async def echo(reader, writer):
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()
async def main():
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"line\n")
    print(await reader.read())
    writer.close()
    server.close()
    await server.wait_closed()
asyncio.run(main())
#: program socketserver and selectors
import selectors, socket, socketserver, threading
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(self.rfile.readline() * 2)
with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server, selectors.DefaultSelector() as selector:
    threading.Thread(target=server.serve_forever).start()
    with socket.create_connection(server.server_address) as client:
        client.sendall(b"x\n")
        selector.register(client, selectors.EVENT_READ, "data")
        print([(key.data, mask) for key, mask in selector.select(5)], client.makefile().read())
    server.shutdown()
#: program XML-RPC
import threading, xmlrpc.client, xmlrpc.server
with xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False) as server:
    server.register_function(pow)
    threading.Thread(target=server.serve_forever).start()
    print(xmlrpc.client.ServerProxy("http://127.0.0.1:%d" % server.server_address[1]).pow(2, 10))
    server.shutdown()
#: program TLS contexts
import ssl
context = ssl.create_default_context()
print(context.verify_mode, context.check_hostname, ssl.OPENSSL_VERSION_INFO[0], len(context.get_ca_certs()) > 50)
#: program outside there is nothing
import urllib.request
try:
    urllib.request.urlopen("http://192.0.2.1/", timeout=0.5)
except OSError as error:
    print("unreachable")
#: program raw sockets
import socket
try:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
except OSError as error:
    print(error)
