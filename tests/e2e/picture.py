#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""README's picture: compose/picture makes it again, of the same parts, and it needs nothing from elsewhere.

    picture.py BIN
"""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import cases  # noqa: E402

PICTURE = os.path.join(ROOT, "compose", "picture.svg")
MOST_BYTES = 60_000
SVG = "{http://www.w3.org/2000/svg}"


def parsed(path):
    return xml.etree.ElementTree.parse(path).getroot()


def structure(root):
    """Elements outside of the plot with class and words but numbers, and the lines and axes that the plot has."""
    (plot,) = (part for part in root if part.get("class") == "plot")
    outside = [(part.tag, part.get("class"), re.sub(r"\d+(\.\d+)?", "N", part.text or "")) for part in root]
    inside = {part.get("id") for part in plot.iter() if re.match(r"(axes|legend|figure)_\d+$", part.get("id") or "")}
    return outside, inside


def test_it_is_made_again(programs):
    with tempfile.TemporaryDirectory(prefix="cloister-picture-") as directory:
        again = os.path.join(directory, "again.svg")
        made = subprocess.run([os.path.join(ROOT, "compose", "picture"), f"--bin={programs}", again], capture_output=True, text=True, timeout=200, check=False)
        if "lack numpy or matplotlib" in made.stderr:
            raise cases.Skip(made.stderr.strip())
        assert made.returncode == 0, made
        assert structure(parsed(again)) == structure(parsed(PICTURE))


def test_it_is_whole_and_small(_):
    with open(PICTURE, encoding="utf-8") as file:
        text = file.read()
    assert len(text.encode()) < MOST_BYTES
    assert not re.search(r"<(script|image|foreignObject)\b|href=\"(?!#)|@import|url\((?!#)", text)
    (plot,) = (part for part in parsed(PICTURE) if part.get("class") == "plot")
    assert len(list(plot.iter(f"{SVG}path"))) > 20


def test_the_readme_shows_it(_):
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        assert "](compose/picture.svg)" in file.read()


cases.end(cases.play(sys.modules[__name__], os.path.abspath(sys.argv[1])))
