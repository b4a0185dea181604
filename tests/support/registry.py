# SPDX-License-Identifier: Apache-2.0
"""A registry of npm below /npm of an index (index.py), and tiny packages for it, good and bad.

    registry = Registry(index); registry.add("x", "1.0.0", {"index.js": ""})      # http://index.test:PORT/npm/x
"""

import base64
import hashlib
import io
import json
import tarfile


def archive(files, links=(), modes=None):
    """A .tgz; files by name, which for npm are below `package/`; links: pairs of name and (kind, target)."""
    to = io.BytesIO()
    with tarfile.open(fileobj=to, mode="w:gz", compresslevel=1) as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            data = content if isinstance(content, bytes) else content.encode()
            entry.size, entry.mode = len(data), (modes or {}).get(name, 0o644)
            tar.addfile(entry, io.BytesIO(data))
        for name, (kind, target) in links:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, target
            tar.addfile(entry)
    return to.getvalue()


def integrity(content):
    return "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()


class Registry:
    def __init__(self, index):
        self.index, self.versions = index, {}

    @staticmethod
    def path(name):
        return "/npm/" + name.replace("/", "%2f")

    def add(self, name, version, files, manifest=None, outside=None, links=(), modes=None, digest=None, host="index.test"):
        """manifest: more of package.json; outside: files with names of their own; digest: if it is another one."""
        about = {"name": name, "version": version, **(manifest or {})}
        inside = {"package.json": json.dumps(about), **files}
        content = archive({**{"package/" + path: text for path, text in inside.items()}, **(outside or {})}, links, modes)
        file = f"{name.replace('/', '-')}-{version}.tgz"
        self.index.files[file] = content
        dist = {"tarball": f"http://{host}:{self.index.port}/files/{file}", "integrity": digest or integrity(content)}
        versions = self.versions.setdefault(name, {})
        versions[version] = {**about, "dist": dist}
        packument = {"name": name, "dist-tags": {"latest": version}, "versions": versions}
        self.index.pages[self.path(name)] = json.dumps(packument).encode()
        return content
