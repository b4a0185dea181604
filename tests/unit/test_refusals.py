#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How many programs of other people's documentation do the rules refuse without need?

    test_refusals.py PROGRAM [SOURCE]        rule_findings of a build; SOURCE: shows what is refused needlessly, all: of every one

The sources are Python's documentation, if Debian has it installed, the package algorithms of PyPI, and the docstrings of
libraries. A program is an indented block, the statements of an example, or a file, if CPython can read it.

A refusal is needed if there is an import that the profile does not allow, or what opens files or evaluates text, or what gives
attributes by a computed name (COMPUTES), which the profiles basic and strict promise to refuse; the rest is needless, and may be
at most 2 % of the programs of a source. How many only this promise refuses is told, too: of the how-tos some, because one of them
emulates descriptors in Python.
"""

import ast
import collections
import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import textwrap
import warnings

NEEDED = ("forbidden-import", "relative-import", "forbidden-call", "syntax-error")
MOST = 0.02
COMPUTES = (
    "computed-name: ",
    "dunder-attribute: Attribute '__dict__'",  # x.__dict__[name]
    "dunder-attribute: Attribute '__getattribute__'",
    "dunder-attribute: Attribute '__setattr__'",
    "dunder-attribute: Attribute '__delattr__'",
    "dunder-attribute: Attribute '__self__'",  # print.__self__ is the module builtins
    "module-attribute: Import 'operator.attrgetter'",  # type(attrgetter("a"))(name), too
    "module-attribute: 'operator.attrgetter'",
)
LIBRARIES = "numpy", "pandas", "scipy", "sklearn", "sympy"
BEGIN = {  # what these docstrings take for granted
    "numpy": "import numpy as np\n",
    "pandas": "import numpy as np\nimport pandas as pd\n",
    "scipy": "import numpy as np\nimport matplotlib.pyplot as plt\n",
}
DOCUMENTATION = "/usr/share/doc/python3.11/html/_sources"
ALGORITHMS = "algorithms==1.0.1"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import tools  # noqa: E402


def reads(text):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<program>", "exec", ast.PyCF_ONLY_AST)
        return bool(text.strip())
    except (SyntaxError, ValueError):
        return False


def examples(text):
    """The statements of each run of >>> in a text, as one program."""
    try:
        found = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return ""
    return "".join(each.source for each in found)


def blocks(text):
    """Of a page in reStructuredText: each indented block after two colons or a code directive, and each example."""
    for part in re.split(r"\n(?=\S)", text):
        if ">>>" in part:
            yield examples(part)
            continue
        for found in re.finditer(r"(?:::|\.\. code-block:: python3?|\.\. testcode::)[^\n]*\n((?:[ \t]*\n)*(?:[ \t]+[^\n]*\n(?:[ \t]*\n)*)+)", part + "\n"):
            yield textwrap.dedent(found[1])


def pages(names):
    for name in names:
        path = os.path.join(DOCUMENTATION, name + ".rst.txt")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                yield from filter(reads, blocks(file.read()))


def listed(folder):
    where = os.path.join(DOCUMENTATION, folder)
    return sorted(f"{folder}/{name.removesuffix('.rst.txt')}" for name in os.listdir(where) if name.endswith(".rst.txt"))


def allowed_modules():
    with open(os.path.join(ROOT, "common", "profile", "profiles.def"), encoding="utf-8") as file:
        return re.findall(r'^MODULE\(basic, "([\w.]+)"\)', file.read(), re.M)


def docstrings(name):
    package, seen = importlib.import_module(name), set()
    modules = [package] + [module for found in pkgutil.iter_modules(package.__path__, name + ".")
                           if not found.name.rpartition(".")[2].startswith(("_", "test", "conftest")) and (module := load(found.name))]
    for module in modules:
        for value in list(vars(module).values()):
            members = vars(value).values() if isinstance(value, type) else ()
            for each in (value, *members):
                text = getattr(each, "__doc__", None)
                if isinstance(text, str) and ">>>" in text and text not in seen:
                    seen.add(text)
                    if reads(program := examples(text)):
                        yield BEGIN.get(name, "") + program


def load(name):
    try:
        return importlib.import_module(name)
    except Exception:  # pylint: disable=broad-except
        return None


def algorithms():
    for place, _, names in os.walk(os.path.join(tools.python_source(ALGORITHMS), "algorithms")):
        for name in sorted(names):
            if name.endswith(".py"):
                with open(os.path.join(place, name), encoding="utf-8") as file:
                    yield file.read()


def sources():
    """Of each source its name, the profiles, and the programs."""
    if os.path.isdir(DOCUMENTATION):
        yield "tutorial", ("basic", "data_science"), pages(listed("tutorial"))
        yield "reference", ("basic", "data_science"), pages(f"library/{name}" for name in allowed_modules())
        yield "how-tos", ("basic",), pages(f"howto/{name}" for name in ("sorting", "functional", "regex", "enum", "descriptor"))
    yield "algorithms", ("basic", "strict"), filter(reads, algorithms())
    for name in LIBRARIES:
        if load(name):
            yield name, ("data_science",), docstrings(name)


def findings(program, texts, profile):
    sent = b"".join(text.encode() + b"\0" for text in texts)
    end = subprocess.run([program, profile, "messages"], input=sent, capture_output=True, check=True, timeout=300)
    return [line.split("\t") if line else [] for line in end.stdout.decode().split("\n")[: len(texts)]]


def powerful():
    """Members that open files or evaluate text."""
    with open(os.path.join(ROOT, "common", "profile", "members.def"), encoding="utf-8") as file:
        rows = re.findall(r"^MEMBER\(([\w.]+), *(\w+), *(?:files|evaluate),", file.read(), re.M)
    return {f"'{module}.{name}' is not allowed" for module, name in rows}


def is_needed(finding, members):
    rule, _, message = finding.partition(": ")
    return rule in NEEDED or message.removeprefix("Import ") in members


def is_needless(found, members):
    return bool(found) and not any(is_needed(each, members) or each.startswith(COMPUTES) for each in found)


def is_by_computed_name(found, members):
    return bool(found) and not is_needless(found, members) and not any(is_needed(each, members) for each in found)


def show(found, members):
    counts = collections.Counter(each for one in found if is_needless(one, members) for each in set(one))
    for message, count in counts.most_common():
        print(f"    {count:4} {message}")


def main(program, shown=None):
    failed, members = [], powerful()
    for name, profiles, programs in sources():
        texts = list(programs)
        for profile in profiles:
            found = findings(program, texts, profile)
            needless = sum(is_needless(each, members) for each in found)
            computed = sum(is_by_computed_name(each, members) for each in found)
            share = needless / max(1, len(texts))
            print(f"{name:10} {profile:12} {len(texts):5} programs, {sum(map(bool, found)):3} refused, {computed:2} for a computed name alone, "
                  f"{needless:2} needlessly: {100 * share:.1f} %")
            if share > MOST:
                failed.append(name)
            if shown in (name, "all"):
                show(found, members)
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
