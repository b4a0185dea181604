# SPDX-License-Identifier: Apache-2.0
"""The official Python client, version 2: with a negotiated, a pinned, and a legacy revision.  Arguments: the gateway's command, or its URL."""

import asyncio
import sys

import anyio
import scenario
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError


class Peer:
    def __init__(self, client):
        self.client = client

    async def tools(self):
        return [tool.model_dump(by_alias=True, exclude_none=True) for tool in (await self.client.list_tools()).tools]

    async def call(self, name, arguments, on_progress=None):
        async def report(progress, _total, _message):
            on_progress(progress)

        try:
            result = await self.client.call_tool(name, arguments, progress_callback=report if on_progress else None)
        except MCPError as error:
            raise scenario.Refused(error.error.code, error.error.message) from None
        return result.model_dump(by_alias=True, exclude_none=True)

    async def abandon(self, name, arguments):
        with anyio.move_on_after(1):
            await self.client.call_tool(name, arguments)


async def main(command, *arguments):
    for mode, version in (("auto", "2026-07-28"), ("2026-07-28", "2026-07-28"), ("legacy", "2025-11-25")):
        server = command if command.startswith("http") else StdioServerParameters(command=command, args=list(arguments))
        async with Client(server, mode=mode) as client:
            assert client.protocol_version == version, client.protocol_version
            await scenario.run(Peer(client), f"python 2, {mode}")


asyncio.run(main(*sys.argv[1:]))
