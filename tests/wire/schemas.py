#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of all messages, judged by another implementation.

schemas.py TEST_GOLDEN: each is a valid schema of 2020-12 and takes what we write; without a needed
field, with an unknown one, or with a value of another type it does not.
"""
import copy
import json
import pathlib
import re
import subprocess
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

TABLE = pathlib.Path(__file__).parents[2] / "common/table/schema.def"
OWN = set(re.findall(r"^FIELD\(\w+, (\w+), .*OWN\(", TABLE.read_text(), re.M))


def golden_json():
    """(message, which, JSON) of each sample."""
    samples = subprocess.run([sys.argv[1], "--print"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in samples.splitlines():
        if not line.startswith("\t"):
            message, which = line.split()
        elif line.startswith("\tjson "):
            yield message, which, json.loads(line[6:])


def shown(schema, value):
    """The value without the fields that the gateway sets, which no schema shows."""
    if isinstance(value, list):
        return [shown(schema.get("items", {}), item) for item in value]
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    known = schema["properties"]
    return {key: shown(known.get(key, {}), item) for key, item in value.items() if key in known or key not in OWN}


def spoilt(schema, value):
    """What the schema must refuse, and why: every object in the value, spoilt in one place."""
    for name in schema.get("required", []):
        yield f"without {name}", {key: value[key] for key in value if key != name}
    if "additionalProperties" in schema:  # not for input, of which a list says only what a model needs
        yield "with an unknown field", {**value, "unheard": 1}
    for name, inner in schema["properties"].items():
        if "type" in inner and name in value:
            yield f"with null for {name}", {**value, name: None}
        item, wrap = value.get(name), lambda changed, name=name: {**value, name: changed}
        if inner.get("type") == "array" and "properties" in inner["items"] and item:
            inner, item = inner["items"], item[-1]
            wrap = lambda changed, name=name: {**value, name: value[name][:-1] + [changed]}
        if "properties" in inner and item is not None:
            for why, changed in spoilt(inner, item):
                yield f"{name} {why}", wrap(changed)


def main(program):
    lines = subprocess.run([program, "--schemas"], check=True, capture_output=True, text=True).stdout.splitlines()
    schemas = {line["message"]: line for line in map(json.loads, lines)}
    checks, failures = 0, []

    def check(ok, text):
        nonlocal checks
        checks += 1
        if not ok:
            failures.append(text)

    for schema in schemas.values():
        for way in ("input", "output"):
            Draft202012Validator.check_schema(schema[way])
    for message, which, value in golden_json():
        for way in ("input", "output"):
            schema = schemas[message][way]
            value, validator = shown(schema, value), Draft202012Validator(schema)
            check(validator.is_valid(value), f"{message}: {way} refuses the {which} sample: "
                  f"{[error.message for error in validator.iter_errors(value)][:3]}")
            for why, changed in spoilt(schema, copy.deepcopy(value)):
                check(not validator.is_valid(changed), f"{message}: {way} takes the {which} sample {why}")
    print(*failures, sep="\n")
    print(f"{len(schemas)} messages, {checks} checks, {len(failures)} failed")
    return 1 if failures or checks < 1000 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
