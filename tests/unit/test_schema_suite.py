#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The official JSON-Schema-Test-Suite, every draft that the validator has; the counts are printed.

    test_schema_suite.py SCHEMA_SUITE      the program of schema_suite.c

The suite is a part of the source package of Python's jsonschema.  Every case must pass, the optional ones too.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tools  # noqa: E402


def main(program):
    suite = tools.source_part(*tools.SUITE)
    sys.exit(subprocess.run([program, suite], stdin=subprocess.DEVNULL, timeout=100, check=False).returncode)


if __name__ == "__main__":
    main(sys.argv[1])
