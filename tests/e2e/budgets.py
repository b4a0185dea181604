#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The tokens that this server costs a conversation: instructions and tools, counted as a client receives them.

    budgets.py BIN

Clients cut instructions and descriptions at 2 KB and drop tools with long names; every conversation pays for every token.
No daemon runs for it.  A token counts as four characters.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402

INSTRUCTIONS_BYTES = 2000
DESCRIPTION_BYTES = 300
CORE_TOKENS = 10700       # tools/list of the default toolset, including output schemas
CORE_INPUT_TOKENS = 3700  # without output schemas, which no client shows its model
CORE_MODEL_TOKENS = 3000  # what a model gets: names, descriptions and arguments
TOOL_TOKENS = 2892        # of one tool
CORE_TOOLS = 20           # some clients refuse more than 40 tools over all servers
NAME_CHARACTERS = 64      # mcp__cloister__NAME

READ, MAKE, SET, WIPE, RUN = "reads", "makes", "sets", "wipes", "runs"
# readOnlyHint, destructiveHint, idempotentHint; no tool has a network, so openWorldHint is false.
HINTS = {READ: (True, False, True), MAKE: (False, False, False), SET: (False, False, True), WIPE: (False, True, True),
         RUN: (False, True, False)}
# What the words of a tool's name promise. A tool that may replace or delete existing data is WIPE.
WORDS = {READ: {"get", "list", "read", "inspect", "stats", "validate", "audit", "follow", "describe"}, SET: {"set"},
         WIPE: {"delete", "terminate", "close", "restore", "upload", "bridge", "register", "remove"}}


def kind_of(tool):
    """What a tool must be, by its name and by whether it takes code to run; a name without such a word makes something."""
    words = set(tool["name"].split("_"))
    kind = next((kind for kind, told in WORDS.items() if told & words), MAKE)
    return RUN if kind == MAKE and "code" in tool["inputSchema"]["properties"] else kind



class Told:
    """What a gateway sends before anything is called."""

    def __init__(self, cluster, *flags):
        client = cluster.client(flags=flags)
        self.instructions = client.request("server/discover").get("instructions")
        self.tools, cursor = [], None
        while True:
            page = client.request("tools/list", {"cursor": cursor} if cursor else {})
            self.tools += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        client.close()


def tokens(value):
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) // 4


def shown(tool, *hidden):
    """The part of a tool that a client may show its model; icons are for people."""
    return {key: value for key, value in tool.items() if key not in ("icons", *hidden)}


def test_instructions_are_short(cluster):
    said = Told(cluster).instructions
    assert len(said.encode()) <= INSTRUCTIONS_BYTES, len(said.encode())
    tools = Told(cluster, "--toolsets=all").tools
    # A setting decides which tools are offered, so the common instructions may name no tool.
    assert not [tool["name"] for tool in tools if tool["name"] in said]
    print(f"  instructions: {len(said.encode())} bytes")


# What models must not be told where a system works otherwise, and what they must.
TRUE_OF = {"mcp-code-sandbox": (("/mnt/data", "variables and imports do not"), ("/workspace", "30 seconds", "snapshot")),
           "mcp-secure-sandbox": (("snapshot", "strict rules"), ("session_id", "/mnt/data")),
           "python-sandbox": (("no sessions", "`result`"), ("session_id", "snapshot", "/workspace")),
           "sandboxmcp": (("allowed_domains", "SANDBOX_OUTPUT_DIR"), ("30 seconds", "snapshot", "`result`"))}


def test_each_toolset_has_instructions_of_its_own(cluster):
    for system, (said, unsaid) in TRUE_OF.items():
        told = Told(cluster, "--toolsets=" + system)
        names = {tool["name"] for tool in Told(cluster, "--toolsets=all").tools} - {tool["name"] for tool in told.tools}
        assert all(text in told.instructions for text in said), (system, told.instructions)
        assert not [text for text in (*unsaid, *names) if text in told.instructions], (system, told.instructions)
        assert len(told.instructions.encode()) <= INSTRUCTIONS_BYTES
        assert Told(cluster, "--toolsets=" + system, "--instructions=x").instructions == "x"


def test_the_operator_may_say_something_else(cluster):
    assert Told(cluster, "--instructions=ask before you run").instructions == "ask before you run"
    assert not Told(cluster, "--instructions=").instructions


def test_descriptions_are_short(cluster):
    tools = Told(cluster, "--toolsets=all").tools
    for tool in tools:
        assert 0 < len(tool["description"].encode()) <= DESCRIPTION_BYTES, (tool["name"], len(tool["description"].encode()))
        assert len("mcp__cloister__" + tool["name"]) <= NAME_CHARACTERS, tool["name"]
        for name, field in tool["inputSchema"]["properties"].items():
            assert field.get("description"), (tool["name"], name)
    print(f"  longest description: {max(len(tool['description'].encode()) for tool in tools)} bytes, {len(tools)} tools")


def test_the_default_toolset_costs_little(cluster):
    tools = Told(cluster).tools
    inputs = [shown(tool, "outputSchema") for tool in tools]
    tools = [shown(tool) for tool in tools]
    assert len(tools) <= CORE_TOOLS, len(tools)
    assert tokens(tools) <= CORE_TOKENS, tokens(tools)
    assert tokens(inputs) <= CORE_INPUT_TOKENS, tokens(inputs)
    models = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in inputs]
    assert tokens(models) <= CORE_MODEL_TOKENS, tokens(models)
    for tool in tools:
        assert tokens(tool) <= TOOL_TOKENS, (tool["name"], tokens(tool))
    print(f"  tools/list: {tokens(tools)} tokens, {tokens(inputs)} without output schemas, {tokens(models)} for the model, {len(tools)} tools")


def test_what_runs_code_says_what_holds_it(cluster):
    """A model or a scanner that looks for dangerous tools reads only the description."""
    for tool in Told(cluster, "--toolsets=all").tools:
        if kind_of(tool) == RUN:
            for fact in ("kernel-isolated", "no network", "30 s", "512 MB"):
                assert fact in tool["description"], (tool["name"], fact)


def test_hints_are_explicit_and_right(cluster):
    tools = Told(cluster, "--toolsets=all").tools
    assert {kind_of(tool) for tool in tools} == set(HINTS)
    for tool in tools:
        hints = tool["annotations"]
        read_only, destructive, idempotent = HINTS[kind_of(tool)]
        assert (hints["readOnlyHint"], hints["destructiveHint"], hints["idempotentHint"], hints["openWorldHint"]) == (
            read_only, destructive, idempotent, False), (tool["name"], hints)


def main():
    with daemons.Cluster(sys.argv[1], servers=()) as cluster:
        cases.run(sys.modules[__name__], cluster)


main()
