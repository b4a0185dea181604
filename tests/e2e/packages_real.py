#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""install_package from the indexes that pip and npm of this host use: large packages that much code needs are installed, and work.

    packages_real.py BIN
"""

import base64
import json
import os
import subprocess
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
import host_indexes  # noqa: E402
import shop  # noqa: E402
from shop import installed, out, run, session_of  # noqa: E402

PNG = b"\x89PNG\r\n\x1a\n"
# The system may have a package of the name, too.
OWN = "\nprint({0}.__version__, {0}.__file__.startswith('/usr/local/'))"
TABLE = """
import numpy, pandas
table = pandas.DataFrame({"kind": list("abab"), "x": numpy.arange(4) ** 2})
print(table.groupby("kind").x.sum().to_dict(), numpy.linalg.det(numpy.eye(3)))
"""
PLOT = """
import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot
import pandas
table = pandas.DataFrame({"x": range(20)})
table["y"] = table.x ** 2
figure = pyplot.figure()
axes = [figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")]
table.plot(x="x", y="y", ax=axes[0])
axes[1].scatter(table.x, table.y, table.x)
figure.savefig("plot.png")
print(len(table), matplotlib.__file__.startswith("/usr/local/"))
"""


def asked(got):
    return {name for name, one in got.items() if one["asked"]}


def works(client, package, session, code, prints):
    """The code, and that its module is the one that was installed."""
    version = installed(client, package, session=session)[package]["version"]
    assert out(client, code + OWN.format(package), session, timeout=60) == f"{prints}{version} True\n"


def test_a_pure_package(cluster, pip):
    works(cluster, "six", session_of(cluster), "import six; print(six.ensure_str(b'x'))", "x\n")


def test_what_a_package_needs_is_named(cluster, pip):
    session = session_of(cluster)
    got = installed(cluster, "requests", session=session)
    assert asked(got) == {"requests"} and {"urllib3", "idna", "certifi", "charset-normalizer"} < set(got), got
    assert all(one["version"] and len(one["sha256"]) == 64 for one in got.values()), got
    code = "import requests; print(requests.Request('GET', 'http://x.test/', params={'a': 'b c'}).prepare().url)"
    works(cluster, "requests", session, code, "http://x.test/?a=b+c\n")


def test_native_code(cluster, pip):
    session = session_of(cluster)
    got = installed(cluster, "numpy", "pandas", session=session)
    assert asked(got) == {"numpy", "pandas"} < set(got), got
    assert out(cluster, TABLE + OWN.format("numpy") + OWN.format("pandas"), session, timeout=60) == \
        f"{{'a': 4, 'b': 10}} 1.0\n{got['numpy']['version']} True\n{got['pandas']['version']} True\n"


def test_a_very_large_package(cluster, pip):
    """It imports numpy and pandas if they exist, without naming them as needed, and the system's are too old for it."""
    session = session_of(cluster)
    installed(cluster, "pyarrow", "pandas", session=session)
    code = "import pyarrow, pyarrow.parquet as p; p.write_table(pyarrow.table({'x': [1, 2]}), 't'); print(p.read_table('t').to_pandas().x.sum())"
    works(cluster, "pyarrow", session, code, "3\n")


def test_a_plot_comes_back(cluster, pip):
    session = session_of(cluster)
    got = installed(cluster, "pandas", "matplotlib", session=session)
    assert asked(got) == {"pandas", "matplotlib"}, got
    reply = cluster.call("execute_code", {"code": PLOT, "session_id": session, "timeout": 60})
    end = reply["structuredContent"]
    assert end["success"] and end["stdout"] == "20 True\n" and not end["stderr"], end
    assert [(one["filename"], one["mime_type"]) for one in end["artifacts"]] == [("plot.png", "image/png")], end["artifacts"]
    shown = [base64.b64decode(one["data"]) for one in reply["content"] if one["type"] == "image"]
    assert len(shown) == 1 and shown[0].startswith(PNG) and len(shown[0]) == end["artifacts"][0]["size"], [len(one) for one in shown]


def url_of(package):
    """Where the index has its wheel."""
    command = ["/usr/bin/python3", "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps", "--only-binary=:all:", "--report=-", package]
    done = subprocess.run([*command, "--target=/nonexistent"], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return json.loads(done.stdout)["install"][0]["download_info"]["url"]


def test_a_url_of_a_host_that_is_allowed(cluster, pip, urls):
    session = session_of(cluster)
    got = installed(cluster, f"six @ {urls[0]}", session=session)
    assert asked(got) == {"six"} and out(cluster, "import six; print(six.__file__)", session).startswith("/usr/local/"), got


def test_of_npm(cluster, npm):
    session = session_of(cluster)
    got = installed(cluster, "is-odd", session=session, language="node")
    assert asked(got) == {"is-odd"} and "is-number" in got, got
    assert out(cluster, "const odd = require('is-odd'); console.log(odd(3), odd(4), require('is-odd/package.json').version)", session, language="node") == \
        f"true false {got['is-odd']['version']}\n"


def test_typescript(cluster, npm):
    code = "enum Color { Red, Green }\ninterface Point { x: number }\nfunction first<T>(all: T[]): T { return all[0] }\n" \
           "const point: Point = { x: Color.Green };\nconsole.log(first<number>([point.x, 2]))"
    end = cluster.call("execute_code", {"code": code, "language": "typescript"})["structuredContent"]
    assert end["success"] and end["stdout"] == "1\n" and not end["stderr"], end
    end = cluster.call("execute_code", {"code": "let y = 1;\nlet x: number = ;", "language": "typescript"})["structuredContent"]
    assert (end["error"]["code"], end["error"]["line"]) == ("syntax_error", 2), end
    code = "enum A { B, C }\nlet y: string;\n\nfunction f(a: A): number { return a === A.B ? 1 : 2; }\n  eval('1');"
    got = cluster.call("validate_code", {"code": code, "language": "typescript"})["structuredContent"]
    assert [(f["line"], f["column"], f["rule"]) for f in got["findings"]] == [(5, 3, "forbidden-call")], got
    assert got["analysis"]["most_complex"] == [{"name": "f", "line": 4, "cyclomatic": 2}], got


class Available(dict):
    """The indexes by name; a case that names one that does not answer is skipped."""

    def __getitem__(self, name):
        found = super().__getitem__(name)
        if isinstance(found, str):
            raise cases.Skip(found)
        return found


def main(bin_):
    indexes = {"pip": host_indexes.of_pip(), "npm": host_indexes.of_npm()}
    missing = {name: index.missing() if index else f"there is no {name}" for name, index in indexes.items()}
    if all(missing.values()):
        daemons.skip("; ".join(missing.values()))
    found = {name: missing[name] or index for name, index in indexes.items()}
    flags = {"egress": host_indexes.egress_flags(*(index for index in found.values() if not isinstance(index, str)))}
    urls = [] if missing["pip"] else [url_of("six")]
    flags["executor"] = [f"--package-hosts={urllib.parse.urlsplit(url).netloc}" for url in urls]
    with daemons.Cluster(bin_, flags=flags) as cluster:
        counts = cases.play(sys.modules[__name__], named=Available(cluster=cluster, urls=urls, **found), after=lambda: shop.end_sessions(cluster))
    cases.end(counts)


if __name__ == "__main__":
    main(sys.argv[1])
