# SPDX-License-Identifier: Apache-2.0
"""fetch.py i:INDEX | x:MORE | p:PIN | r:REQUIREMENT | u:... - downloads the wheels of the requirements, and those that they
need, into /workspace/shown. Runs in a box of its own, whose only network is that of the indexes.

What arrives is no code yet: wheels only, and nothing of them is run or unpacked here.
"""

import os
import subprocess
import sys

ROOTS = "/etc/ssl/certs/ca-certificates.crt"


def refuse(text):
    print(text, file=sys.stderr)
    os._exit(3)


def check_name(name):
    names = {}
    with open("/cloister/packages/names.py") as file:
        exec(file.read(), names)
    meant = names["meant"](name)
    if meant:
        refuse(f"packages: did you mean {meant}? {name} is one letter away from it. With unusual_names=true {name} is installed.")


def read(requirements, unusual):
    """The requirements in their one form; a URL or a path is refused."""
    from pip._vendor.packaging.requirements import InvalidRequirement, Requirement
    from pip._vendor.packaging.utils import canonicalize_name

    for text in requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            refuse(f"packages: {text!r} is no requirement as in 'pandas>=2,<3': {str(error).splitlines()[0]}")
        if requirement.url:
            refuse(f"packages: {text!r} names a URL; this server installs from its index only")
        if not unusual:
            check_name(canonicalize_name(requirement.name))
        yield str(requirement)


def main(words):
    if os.path.isdir("/usr/local") and os.listdir("/usr/local"):  # a setting names a program there
        sys.exit("programs see /usr/local of the host, where packages would be")
    given = {kind: [word[2:] for word in words if word[:2] == kind] for kind in ("i:", "x:", "p:", "r:", "u:")}
    os.umask(0o022)
    os.chmod("/workspace", 0o711)  # the builder must find `shown`, and may have no right to more than others
    os.environ.update(TMPDIR="/workspace/tmp", PIP_CONFIG_FILE=os.devnull)
    for name in "tmp", "shown":
        os.mkdir("/workspace/" + name)
    with open("/workspace/pins", "w") as pins:
        pins.writelines(f"{pin}\n" for pin in given["p:"])
    command = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "--no-input", "--no-color", "download",
               "--only-binary=:all:", "--no-cache-dir", "--progress-bar=off", "--retries=2", "--timeout=20", "--cert", ROOTS,
               "--dest", "/workspace/shown", "--constraint", "/workspace/pins"]
    for option, kind in ("--index-url", "i:"), ("--extra-index-url", "x:"):
        for url in given[kind]:
            command += [option, url]
            if url.startswith("http://"):  # the operator has chosen it
                command += ["--trusted-host", url.split("/")[2]]
    return subprocess.run([*command, "--", *read(given["r:"], given["u:"])]).returncode


sys.exit(1 if main(sys.argv[1:]) else 0)
