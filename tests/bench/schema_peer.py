# SPDX-License-Identifier: Apache-2.0
"""A library of Python as a peer of tests/bench/schema, by the protocol of schema.c.

    schema_peer.py LIBRARY SCHEMA DOCUMENTS
"""

import json
import sys
import time


def jsonschema(schema):
    import jsonschema as library
    return library.validators.validator_for(schema)(schema).is_valid


def jsonschema_rs(schema):
    import jsonschema_rs as library
    return library.validator_for(schema, validate_formats=False).is_valid


def fastjsonschema(schema):
    import fastjsonschema as library
    check = library.compile(schema, use_formats=False, use_default=False)

    def is_valid(document):
        try:
            check(document)
        except library.JsonSchemaValueException:
            return False
        return True
    return is_valid


LIBRARIES = {"jsonschema": jsonschema, "jsonschema-rs": jsonschema_rs, "fastjsonschema": fastjsonschema}


def measure(is_valid, documents, seconds):
    begun, took, checked = time.process_time(), 0, 0
    while took < seconds:
        for document in documents:
            is_valid(document)
        checked += len(documents)
        took = time.process_time() - begun
    return checked / took


def main(library, schema, documents):
    with open(schema, encoding="utf-8") as file:
        schema = json.load(file)
    with open(documents, encoding="utf-8") as file:
        documents = json.load(file)
    begun = time.process_time()
    is_valid = LIBRARIES[library](schema)
    took = time.process_time() - begun
    print(json.dumps({"compile_ms": 1000 * took, "verdicts": "".join("01"[is_valid(one)] for one in documents)}), flush=True)
    for line in sys.stdin:
        print(measure(is_valid, documents, float(line)), flush=True)


main(*sys.argv[1:])
