#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""original.py BIN WORK: sandboxmcp's own unit tests, downloaded now, against cloister through the import shim.

Only those that go through its public API can run at all: the others test parts of its implementation.  Each test of
those files has a row here: it passes, or why it cannot.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree

import wheels

sys.path.insert(0, os.path.join(wheels.ROOT, "tests", "support"))
import tools  # noqa: E402
from daemons import Cluster  # noqa: E402

PACKAGE = "mcpaisuite-sandboxmcp==1.1.0"
FILES = ("test_execution.py",)
INNER = "a class of its implementation"
CANNOT = {
    "TestSecretMasking.test_vault_secrets_masked": "no vault",
    "TestVault.test_add_list_delete": "no vault",
    "TestVault.test_encrypted_at_rest": INNER, "TestVault.test_ttl_expiry": INNER,
    "TestPIIRedaction.test_redactor_masks_each_pii_type": INNER,
    "TestPIIRedaction.test_redactor_passthrough_clean_text": INNER,
    "TestPIIRedaction.test_pii_redacted_in_sandbox_output": "no redaction of personal data",
    "TestNetworkGuard.test_default_deny": INNER, "TestNetworkGuard.test_allowed_domain": INNER,
    "TestNetworkGuard.test_request_allowed_domains": INNER,
}
PASS = 18


def fetch(work):
    """Their tests alone: beside their sources, they would import those."""
    wheels.run(*tools.python("mcp==1.30.0"), "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", work, PACKAGE)
    archive, = (name for name in os.listdir(work) if name.endswith(".tar.gz"))
    with tarfile.open(os.path.join(work, archive)) as tar:
        root = archive[:-len(".tar.gz")]
        for name in FILES:
            with open(os.path.join(work, name), "wb") as file:
                shutil.copyfileobj(tar.extractfile(f"{root}/tests/unit/{name}"), file)


def outcomes(work, python, command):
    """True for each test that passed, by its name."""
    report = os.path.join(work, "report.xml")
    subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "--tb=short", f"--junitxml={report}", *FILES],
                   cwd=work, env={**os.environ, "CLOISTER_COMMAND": shlex.join(command)}, stdin=subprocess.DEVNULL, timeout=300, check=False)
    return {case.get("classname").rpartition(".")[2] + "." + case.get("name"): len(case) == 0
            for case in xml.etree.ElementTree.parse(report).iter("testcase")}


def main(binaries, work):
    made = wheels.build(os.path.join(work, "wheels"), wheels.SOURCE, wheels.SHIM)
    python = wheels.environment(os.path.join(work, "venv"), sys.executable, made)
    wheels.run(python, "-m", "pip", "install", "--quiet", "pytest==8.4.2", "pytest-asyncio==1.2.0")
    fetch(work)
    with Cluster(binaries) as cluster:
        found = outcomes(work, python, [*cluster.command("gateway"), "--toolsets=core,monitor", "--result-bytes=0"])
    wrong = 0
    for name, passed in found.items():
        expected = name not in CANNOT
        wrong += passed != expected
        print(f"{'passed' if passed else 'failed'} {name}{'' if expected else ': ' + CANNOT[name]}{'' if passed == expected else ' (unexpected)'}")
    good = sum(found.values())
    print(f"{good} of {len(found)} of their tests pass")
    wrong += good < PASS
    print(f"{good} passed, {wrong} failed, 0 skipped")
    sys.exit(wrong > 0)


main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
