# SPDX-License-Identifier: Apache-2.0
"""A TLS server of a test, with a certificate of an authority that only the test knows."""

import http.server
import os
import ssl
import subprocess
import threading


class Server(http.server.ThreadingHTTPServer):
    """Its handshake is in the thread of the connection, as a client may refuse the certificate."""
    request_queue_size = 128

    def __init__(self, address, handler, made, key):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(made, key)
        super().__init__(address, handler)

    def process_request_thread(self, request, client_address):
        try:
            request = self.context.wrap_socket(request, server_side=True)
            super().process_request_thread(request, client_address)
        except OSError:
            request.close()

    def handle_error(self, request, client_address):
        pass

    def begin(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self


def _openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def certificates(directory, *names):
    """(an authority, a server's certificate of it for these names, its key), as paths."""
    ca, key, request, made = (os.path.join(directory, name) for name in ("ca", "key", "request", "made"))
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    _openssl("req", "-x509", *new, "-keyout", ca + ".key", "-out", ca, "-subj", "/CN=the operator's own", "-days", "2")
    _openssl("req", *new, "-keyout", key, "-out", request, "-subj", "/CN=" + names[0])
    with open(made + ".names", "w", encoding="ascii") as file:
        file.write("subjectAltName=" + ",".join("DNS:" + name for name in names) + "\nbasicConstraints=CA:FALSE\n")
    _openssl("x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca + ".key", "-CAcreateserial", "-days", "1",
             "-extfile", made + ".names", "-out", made)
    os.chmod(ca, 0o644)
    return ca, made, key
