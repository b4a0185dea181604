# SPDX-License-Identifier: Apache-2.0
"""Checks messages against the official schema of their revision.

    watch = Watch(load(), "2026-07-28")
    watch.sent(message); watch.received(message)     # raises Breach
    watch.count                                      # number of checked messages

Messages of the server are always checked.  Messages of a test are checked if the server accepted them, because many are
invalid on purpose.  The schemas are in packages of the registries and are extracted when the test runs.
"""

import json
import os
import shutil
import subprocess

import jsonschema

import tools

HERE = os.path.dirname(os.path.abspath(__file__))
# Unions of all messages, which are less strict than the definition of one message.
UNIONS = ("ClientRequest", "ClientNotification", "ClientResult", "ServerRequest", "ServerNotification", "ServerResult")
OLDEST = "2024-11-05"
# Results that extensions add to the core's.
TASK = "task"


class Breach(Exception):
    pass


def load():
    """Each revision with its Schema."""
    suite = os.path.join(tools.FOLDER, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
    found = json.loads(_printed(tools.node("tests/support/schemas.mjs", suite)))
    oldest = [*tools.python(tools.PYTHONS[1]), os.path.join(HERE, "oldest_schema.py"), tools.python_source(tools.OLDEST_TYPES)]
    found[OLDEST] = json.loads(_printed(oldest))
    return {revision: Schema(schema) for revision, schema in found.items()}


def load_if_npm():
    """Like load(); prints a line and returns None if there is no npm."""
    if shutil.which("npm") is None:
        print("messages are not held to the schemas of MCP: there is no npm")
        return None
    return load()


def _printed(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True).stdout


class Schema:
    def __init__(self, schema):
        self.schema, self.key = schema, "$defs" if "$defs" in schema else "definitions"
        self.kind = jsonschema.Draft7Validator if "draft-07" in schema.get("$schema", "") else jsonschema.Draft202012Validator
        self.resolver = jsonschema.RefResolver.from_schema(schema)
        self.methods, self.results, self.errors, self.good = {}, {}, {}, set()
        for name, definition in schema[self.key].items():
            if name not in UNIONS:
                self._index(name, definition)

    def _index(self, name, definition):
        properties = definition.get("properties", {})
        method = properties.get("method", {}).get("const")
        # The types of the oldest revision include generic ones beside the named ones.
        if method is not None and name.endswith(("Request", "Notification")):
            self.methods[method] = name
            result = name[:-len("Request")] + "Result"
            if name.endswith("Request") and result in self.schema[self.key]:
                self.results[method] = result
        for part in properties.get("error", {}).get("allOf", []):
            code = part.get("properties", {}).get("code", {}).get("const")
            if code is not None:
                self.errors[code] = name

    def _has(self, *names):
        return next(name for name in names if name in self.schema[self.key])

    def hold(self, name, value):
        """Raises Breach if the value does not match that definition. A value that matched is not checked again."""
        known = hash((name, json.dumps(value)))
        if known in self.good:
            return
        validator = self.kind({"$ref": f"#/{self.key}/{name}"}, resolver=self.resolver)
        wrong = jsonschema.exceptions.best_match(validator.iter_errors(value))
        if wrong is not None:
            raise Breach(f"{name} at {wrong.json_path}: {wrong.message[:300]}; the message: {json.dumps(value)[:1500]}")
        self.good.add(known)

    def request(self, message):
        self.hold(self.methods.get(message["method"]) or ("JSONRPCRequest" if "id" in message else "JSONRPCNotification"), message)

    def answer(self, message, method):
        if "error" in message:
            self.hold(self.errors.get(message["error"].get("code")) or self._has("JSONRPCErrorResponse", "JSONRPCError"), message)
            return
        self.hold(self._has("JSONRPCResultResponse", "JSONRPCResponse"), message)
        result = message["result"]
        kind = result.get("resultType")
        if kind == "input_required":
            self.hold("InputRequiredResult", result)
        elif kind != TASK and method in self.results:
            self.hold(self.results[method], result)


class Watch:
    """One client's conversation."""

    def __init__(self, schemas, revision):
        self.revision, self.schema, self.count, self.asked, self.asking = revision, schemas[revision], 0, {}, {}

    # good: checks the message at once, whatever the reply.
    def sent(self, message, good=False):
        if "method" in message and "id" in message:
            self.asked[json.dumps(message["id"])] = message
            if good:
                self._hold(self.schema.request, message)
        elif "method" in message:
            self._hold(self.schema.request, message)
        else:
            self._hold(self.schema.answer, message, self.asking.pop(json.dumps(message.get("id")), None))

    def received(self, message):
        if "method" in message:
            if "id" in message:
                self.asking[json.dumps(message["id"])] = message["method"]
            self._hold(self.schema.request, message)
            return
        asked = self.asked.pop(json.dumps(message.get("id")), None)
        self._hold(self.schema.answer, message, asked and asked["method"])
        if asked is not None and "result" in message and not message["result"].get("isError"):
            self._hold(self.schema.request, asked)

    def _hold(self, check, *arguments):
        self.count += 1
        check(*arguments)
