# SPDX-License-Identifier: Apache-2.0
"""Makes what a benchmark measures and measures with: in the directory of compose/quickstart these programs are not built."""

import argparse
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import peers  # noqa: E402

DAEMONS = ["cloister", "cloister-builder", *("cloister-" + name for name in peers.PEERS)]


def options(**more):
    """A parser with --build; its value is absolute, as daemons are started elsewhere."""
    parser = argparse.ArgumentParser(**more)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), type=os.path.abspath)
    return parser


def build(directory, *programs):
    """Builds the daemons and these programs there, with what the tests need installed."""
    subprocess.run([os.path.join(ROOT, "compose", "install-deps"), "--tests"], check=True)
    os.makedirs(os.path.join(directory, "bench"), exist_ok=True)
    for command in (["cmake", "-S", ROOT, "-B", directory, "-G", "Ninja", "-DBUILD_TESTING=ON", "-DCLOISTER_FIXTURES=ON"],
                    ["ninja", "-C", directory, *DAEMONS, *programs]):
        made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if made.returncode != 0:
            sys.exit(f"{' '.join(command)}:\n{made.stdout[-2000:]}")
