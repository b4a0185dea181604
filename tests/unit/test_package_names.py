#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Which names of packages are taken for misspellings.

    test_package_names.py GUEST
"""

import os
import sys

names = {}
with open(os.path.join(sys.argv[1], "packages", "names.py")) as file:
    exec(file.read(), names)
meant = names["meant"]
for wrong, right in {"reqests": "requests", "request": "requests", "panads": "pandas", "pandsa": "pandas", "numpyy": "numpy", "sklear": None,
                     "requests": None, "six": None, "sixx": None, "abc": None, "completely-other": None, "djago": "django"}.items():
    assert meant(wrong) == right, (wrong, meant(wrong))
for name in names["KNOWN"]:
    assert meant(name) is None, name
print("ok")
