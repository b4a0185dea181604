# SPDX-License-Identifier: Apache-2.0
"""fetch.py i:INDEX | x:MORE | h:HOST | p:PIN | r:REQUIREMENT | u: | b: - downloads the wheels of the requirements, and those that
they need, into /workspace/shown. Runs in a box of its own, whose only network is that of the indexes, and of the hosts that the
operator allows for URLs.

What arrives is no code yet: wheels only, and nothing of them is run or unpacked here. With b: packages without a wheel are
built; then their scripts run, and no other session gets what this box says of names.
"""

import os
import subprocess
import sys
import urllib.parse

DEBIAN = ["/usr/lib/python3/dist-packages"]
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


def check_url(text, url, hosts):
    """Of another kind of archive pip would run the scripts, also without b:."""
    parts = urllib.parse.urlsplit(url)
    if parts.netloc not in hosts:
        refuse(f"packages: {text!r} names a URL; this server installs from its index only{' and from ' + ', '.join(hosts) if hosts else ''}")
    if parts.scheme != "https" or not parts.path.endswith(".whl"):
        refuse(f"packages: {text!r}: a URL is that of a wheel, as in 'name @ https://host/name-1.0-py3-none-any.whl'")


def read(requirements, unusual, hosts):
    """The requirements in their one form; a URL or a path is refused."""
    # An environment has no pip of its own; that of the installation behind it is for the same Python.
    sys.path += ["{}/lib/python{}.{}/site-packages".format(sys.base_prefix, *sys.version_info), *DEBIAN[sys.base_prefix != "/usr":]]
    try:
        from pip._vendor.packaging.requirements import InvalidRequirement, Requirement
        from pip._vendor.packaging.utils import canonicalize_name
    except ImportError:
        sys.exit("this environment's Python has no pip, so nothing can be installed for it")

    for text in requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            refuse(f"packages: {text!r} is no requirement as in 'pandas>=2,<3': {str(error).splitlines()[0]}")
        if requirement.url:
            check_url(text, requirement.url, hosts)
        if not unusual:
            check_name(canonicalize_name(requirement.name))
        yield str(requirement)


def main(words):
    if os.path.isdir("/usr/local") and os.listdir("/usr/local"):  # a setting names a program there
        sys.exit("programs see /usr/local of the host, where packages would be")
    given = {kind: [word[2:] for word in words if word[:2] == kind] for kind in ("i:", "x:", "h:", "p:", "r:", "u:", "b:")}
    os.umask(0o022)
    os.chmod("/workspace", 0o711)  # the builder must find `shown`, and may have no right to more than others
    os.environ.update(TMPDIR="/workspace/tmp", PIP_CONFIG_FILE=os.devnull)
    for name in "tmp", "shown":
        os.mkdir("/workspace/" + name)
    with open("/workspace/pins", "w") as pins:
        pins.writelines(f"{pin}\n" for pin in given["p:"])
    way = ["wheel", "--prefer-binary", "--wheel-dir"] if given["b:"] else ["download", "--only-binary=:all:", "--dest"]
    python = sys.executable if sys.prefix == sys.base_prefix else sys.base_prefix + "/bin/python3"
    command = [python, "-m", "pip", "--isolated", "--disable-pip-version-check", "--no-input", "--no-color", *way, "/workspace/shown",
               "--no-cache-dir", "--progress-bar=off", "--retries=2", "--timeout=20", "--cert", ROOTS, "--constraint", "/workspace/pins"]
    for option, kind in ("--index-url", "i:"), ("--extra-index-url", "x:"):
        for url in given[kind]:
            command += [option, url]
            if url.startswith("http://"):  # the operator has chosen it
                command += ["--trusted-host", url.split("/")[2]]
    return subprocess.run([*command, "--", *read(given["r:"], given["u:"], given["h:"])]).returncode


sys.exit(1 if main(sys.argv[1:]) else 0)
