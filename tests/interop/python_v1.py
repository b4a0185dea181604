# SPDX-License-Identifier: Apache-2.0
"""The official Python client, version 1, which most programs still use.  Arguments: the gateway's command, or its URL."""

import asyncio
import contextlib
import sys

import scenario
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.exceptions import McpError


class Peer:
    def __init__(self, session):
        self.session = session

    async def tools(self):
        return [tool.model_dump(by_alias=True, exclude_none=True) for tool in (await self.session.list_tools()).tools]

    async def call(self, name, arguments, on_progress=None):
        async def report(progress, _total, _message):
            on_progress(progress)

        try:
            result = await self.session.call_tool(name, arguments, progress_callback=report if on_progress else None)
        except McpError as error:
            raise scenario.Refused(error.error.code, error.error.message) from None
        return result.model_dump(by_alias=True, exclude_none=True)


@contextlib.asynccontextmanager
async def connect(command, *arguments):
    if command.startswith("http"):
        async with streamablehttp_client(command) as (read, write, _):
            yield read, write
    else:
        async with stdio_client(StdioServerParameters(command=command, args=list(arguments))) as streams:
            yield streams


async def main(*server):
    async with connect(*server) as (read, write), ClientSession(read, write) as session:
        agreed = await session.initialize()
        assert agreed.protocolVersion == "2025-11-25" and agreed.serverInfo.name == "cloister", agreed
        await session.send_ping()
        # This client cannot notify the server that it abandoned a call.
        await scenario.run(Peer(session), "python 1", canceller=False)


asyncio.run(main(*sys.argv[1:]))
