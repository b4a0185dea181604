# SPDX-License-Identifier: Apache-2.0
"""Images in a directory (OCI image-spec), made of this host's Python and of what a test writes.

    layout = Layout(DIRECTORY)
    layout.image(layout.layer(host_python(), text("srv/data.txt", "data")), ...)
"""

import glob
import gzip
import hashlib
import io
import json
import os
import platform
import re
import subprocess
import sys
import tarfile

ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
MEDIA = "application/vnd.oci.image."
VERSION = "python%d.%d" % sys.version_info[:2]


def libraries(program):
    """The files that the loader needs for it."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return {os.path.join("/usr/lib", os.path.relpath(os.path.realpath(os.path.dirname(path)), "/usr/lib"), os.path.basename(path)) if not path.startswith("/lib64")
            else path for path in re.findall(r"(/\S+)", listed)}


def host_python():
    """Adds /usr/bin/python3 of this host with its library, bash, and no more."""
    def add(tar):
        programs = [f"/usr/bin/{VERSION}", "/usr/bin/bash", "/usr/bin/cat"]
        found = set(programs)
        for path in programs + glob.glob(f"/usr/lib/{VERSION}/lib-dynload/*.so"):
            found |= libraries(path)
        for path in sorted(found):
            tar.add(os.path.realpath(path), path)
        tar.add(f"/usr/lib/{VERSION}", filter=lambda one: None if re.search("/(__pycache__|test|idlelib|ensurepip|pydoc_data)", one.name) else one)
        entry(tar, "usr/bin/python3", type=tarfile.SYMTYPE, linkname=VERSION)
    return add


def entry(tar, name, content=b"", **more):
    info = tarfile.TarInfo(name)
    for key, value in {"size": len(content), "mode": 0o644, **more}.items():
        setattr(info, key, value)
    tar.addfile(info, io.BytesIO(content))


def text(name, content, **more):
    return lambda tar: entry(tar, name, content.encode(), **more)


def link(name, target, **more):
    return lambda tar: entry(tar, name, type=tarfile.SYMTYPE, linkname=target, **more)


def hard_link(name, target):
    return lambda tar: entry(tar, name, type=tarfile.LNKTYPE, linkname=target)


def directory(name, **more):
    return lambda tar: entry(tar, name, type=tarfile.DIRTYPE, mode=0o755, **more)


class Layout:
    def __init__(self, path):
        self.path = path
        os.makedirs(os.path.join(path, "blobs", "sha256"), exist_ok=True)
        with open(os.path.join(path, "oci-layout"), "w", encoding="ascii") as file:
            file.write('{"imageLayoutVersion": "1.0.0"}')
        self.manifests = []

    def blob(self, data, kind):
        """Its descriptor."""
        name = hashlib.sha256(data).hexdigest()
        with open(os.path.join(self.path, "blobs", "sha256", name), "wb") as file:
            file.write(data)
        return {"mediaType": MEDIA + kind, "digest": "sha256:" + name, "size": len(data)}

    def layer(self, *parts):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w") as tar:
            for add in parts:
                add(tar)
        return self.blob(gzip.compress(data.getvalue(), 1), "layer.v1.tar+gzip")

    def image(self, *layers, tag=None, path="/usr/local/bin:/usr/bin:/bin", architecture=ARCHITECTURE, **more):
        config = {"architecture": architecture, "os": "linux", "config": {"Env": ["LANG=C", "PATH=" + path]}}
        manifest = {"schemaVersion": 2, "config": self.blob(json.dumps(config).encode(), "config.v1+json"), "layers": list(layers), **more}
        found = self.blob(json.dumps(manifest).encode(), "manifest.v1+json")
        self.manifests.append(found | ({"annotations": {"org.opencontainers.image.ref.name": tag}} if tag else {}))
        self.write({"schemaVersion": 2, "manifests": self.manifests})
        return found

    def write(self, index):
        with open(os.path.join(self.path, "index.json"), "w", encoding="ascii") as file:
            json.dump(index, file)
