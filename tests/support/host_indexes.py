# SPDX-License-Identifier: Apache-2.0
"""The package indexes that pip and npm of this host use, for tests and measurements with real packages.

    index = host_indexes.of_pip()                 # or of_npm()
    index.url, index.missing()                    # missing(): why it cannot be used now, or None
    flags = {"egress": host_indexes.egress_flags(index)}

No name of an index is written here: pip and npm say what they use, as they also do to the executor.
"""

import ipaddress
import re
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request

PYTHON = "/usr/bin/python3"  # the one whose pip the boxes use
DEFAULT = "from pip._internal.models.index import PyPI; print(PyPI.simple_url, 'https://' + PyPI.file_storage_domain)"


class Index:
    """url: of its pages; urls: of all hosts that an installation may need; page: of a package that every index has."""

    def __init__(self, of, url, urls, page):
        self.of, self.url, self.page = of, url, page
        self.hosts = sorted({urllib.parse.urlsplit(one).hostname for one in urls})

    def missing(self, seconds=5):
        try:
            with urllib.request.urlopen(self.url.rstrip("/") + self.page, timeout=seconds) as reply:
                reply.read(1)
        except (OSError, ValueError) as error:  # URLError is an OSError
            return f"the index of {self.of} does not answer: {error}"
        return None

    def networks(self):
        """The addresses of its hosts that are not public, which egress refuses unless its operator names them."""
        found = {ipaddress.ip_address(at[4][0]) for host in self.hosts for at in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
        return sorted(str(ipaddress.ip_network(address)) for address in found if not address.is_global)


def said(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def of_pip():
    """Its environment goes before its files, and sorts so, too."""
    keys = re.findall(r"^[\w:]+\.((?:extra-)?index-url)='(.*)'$", said(PYTHON, "-m", "pip", "config", "list"), re.M)
    chosen = [url for key, url in keys if key == "index-url"]
    more = [url for key, text in keys if key == "extra-index-url" for url in text.split()]
    urls = chosen[:1] or said(PYTHON, "-c", DEFAULT).split()
    return Index("pip", urls[0], urls + more, "/six/")


def of_npm():
    """None: there is no npm."""
    if shutil.which("npm") is None:
        return None
    url = said("npm", "config", "get", "registry").strip()
    return Index("npm", url, [url], "/is-odd")


def egress_flags(*indexes):
    networks = sorted({network for index in indexes for network in index.networks()})
    return ["--allowed-networks=" + ",".join(networks)] if networks else []
