#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the prompt generate_secure_script says of a profile is what validate_code does.

    prompt_rules.py BIN

Under each language and profile, a program uses everything that the prompt allows and must pass; another one uses
everything that it refuses, and each line must have its finding.
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from daemons import Cluster, RpcError  # noqa: E402

PROFILES = ["strict", "basic", "data_science", "network", "filesystem", "strict,data_science", "basic,network,filesystem"]
# By the begin of a line: what uses one of its names.
ALLOWED = {
    "python": {"Import only": "import {}", "Of their modules": "from {0} import {1}", "Of attributes with": "x.{}"},
    "node": {"Import only": "require('{}')", "Of Node's globals": "void {}"},
    "shell": {"Run only": "{} a"},
}
REFUSED = {
    "python": {"Built-ins": "y = {}", "Members": "from {0} import {1}", "Attributes": "x.{}", "Import these": "numpy.{}"},
    "node": {"Globals that": "void {};", "Properties": "x.{};"},
    "shell": {"Options": "{} a", "Variables": "{}=a"},
}
AT_ONCE = 50  # a report has at most 100 findings
# Commands that need other words than "a".
ELSEWHERE = {"[": "[ a ]", "sed": "sed --sandbox a", "break": ":", "continue": ":", "return": ":"}


def rules(cluster, language, profile):
    """The names of each line of the prompt, by how the line begins."""
    result = cluster.shared.request("prompts/get", {"name": "generate_secure_script", "arguments":
                                                    {"task": "t", "language": language, "profile": profile}})
    text = result["messages"][0]["content"]["text"]
    return dict(re.findall(r"^- ([^:\n]*): (.*)\.$", text, re.M)), text


def used(lines, forms):
    """A statement for each name of these lines; members of a module have the module, too."""
    made = []
    for begin, form in forms.items():
        names = [names for told, names in lines.items() if told.startswith(begin)]
        for name in names[0].split(", ") if names else []:
            made.append(form.format(*name.rsplit(".", 1)) if "{1}" in form else form.format(name))
    return made


def check(cluster, language, profile, statements):
    arguments = {"language": language, "profile": profile, "code": "\n".join(statements) + "\n"}
    result = cluster.call("validate_code", arguments)["structuredContent"]
    return {**result["validation"], "findings": result.get("findings", [])} if "validation" in result else result


def programs(cluster):
    for language in ALLOWED:
        for profile in PROFILES:
            yield language, profile, rules(cluster, language, profile)[0]


def modules_of(lines):
    return [names for told, names in lines.items() if told.startswith("Import only")][0].split(", ")


def test_what_is_allowed_passes(cluster):
    for language, profile, lines in programs(cluster):
        statements = used(lines, ALLOWED[language])
        if language == "shell":
            statements = [ELSEWHERE.get(s.split()[0], s) for s in statements]
        assert len(statements) > 50, (language, profile, lines)
        result = check(cluster, language, profile, statements)
        assert result["valid"], (language, profile, result)


def test_what_is_refused_is_found(cluster):
    for language, profile, lines in programs(cluster):
        statements = used(lines, REFUSED[language])
        if language == "python":
            known = modules_of(lines)
            statements = [s for s in statements if not s.startswith("from") or any(s.split()[1] == m or s.split()[1].startswith(m + ".") for m in known)]
            statements = [s for s in statements if "numpy" in known or "numpy" not in s]
        first = ["import numpy"] if language == "python" else []
        if language == "shell":
            statements = [s.replace("*", "X") for s in statements]
        for begin in range(0, len(statements), AT_ONCE):
            some = [*first, *statements[begin:begin + AT_ONCE]]
            found = {finding["line"] for finding in check(cluster, language, profile, some)["findings"]}
            missed = [s for n, s in enumerate(some, 1) if n not in found and s not in first]
            assert not missed, (language, profile, missed)


def test_the_profile_open_has_no_rules(cluster):
    for language in ALLOWED:
        assert "Profile open" in rules(cluster, language, "open")[1]
        assert not used(rules(cluster, language, "open")[0], {**ALLOWED[language], **REFUSED[language]})


def test_an_unknown_profile_is_refused(cluster):
    for language, profile, told in [("python", "lax", "strict, basic"), ("node", "strict,lax", "unknown profile \"lax\""),
                                    ("python", "open,basic", "cannot be joined"), ("cobol", "strict", "no rules for the language cobol")]:
        try:
            rules(cluster, language, profile)
        except RpcError as error:
            assert "arguments.profile" in str(error) and told in str(error), error
        else:
            raise AssertionError((language, profile))


def main(bin_):
    with Cluster(bin_) as cluster:
        cluster.shared = cluster.client()
        try:
            return cases.play(sys.modules[__name__], cluster)
        finally:
            cluster.shared.close()


if __name__ == "__main__":
    cases.end(main(sys.argv[1]))
