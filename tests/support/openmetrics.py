# SPDX-License-Identifier: Apache-2.0
"""Reads a text in the form of OpenMetrics strictly: what breaks the form raises AssertionError."""

import http.client
import re
import socket

SAMPLE = re.compile(r'([a-z_:][a-z0-9_:]*)(?:\{((?:[a-z_]+="[^"\\\n]*",?)*)\})? ([0-9.eE+-]+)$')
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


class Unix(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(10)
        self.sock.connect(self.path)


# Status and text of a page.
def ask(path, page):
    connection = Unix(path)
    try:
        connection.request("GET", page)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


# {name of a sample: {its labels as text: its value}}.
def read(text):
    assert text.endswith("\n# EOF\n"), text[-100:]
    samples, family, kind, seen = {}, None, None, set()
    for line in text[:-len("# EOF\n")].splitlines():
        if line.startswith("# HELP "):
            assert line.endswith("."), line
        elif line.startswith("# TYPE "):
            family, kind = line.split()[2:]
            assert family not in seen, line
            seen.add(family)
        else:
            name, labels, value = SAMPLE.match(line).groups()
            assert name in {family + suffix for suffix in SUFFIXES[kind]}, (line, family, kind)
            cells = samples.setdefault(name, {})
            assert labels not in cells, line
            cells[labels or ""] = float(value)
    _check_buckets(samples)
    return samples


# The buckets of a histogram grow, and the last has the count.
def _check_buckets(samples):
    for name in (n[:-len("_bucket")] for n in samples if n.endswith("_bucket")):
        last = {}
        for labels, value in samples[name + "_bucket"].items():
            rest, bound = re.fullmatch(r'(.*?),?le="([^"]+)"', labels).groups()
            assert value >= last.get(rest, 0), (name, labels)
            last[rest] = value
            assert bound != "+Inf" or value == samples[name + "_count"][rest], (name, labels)


# The sum of the samples of a name whose labels contain these texts.
def total(samples, name, *labels):
    return sum(value for text, value in samples.get(name, {}).items() if all(label in text for label in labels))
