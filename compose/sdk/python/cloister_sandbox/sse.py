# SPDX-License-Identifier: Apache-2.0
"""Events of a text/event-stream, of which MCP uses the data only."""

from __future__ import annotations

from typing import List

from .stdio import Lines
from .transport import MAX_MESSAGE
from .errors import ProtocolError


class Events:
    def __init__(self) -> None:
        self._lines, self._data, self._size = Lines(), [], 0  # type: Lines, List[bytes], int

    def feed(self, data: bytes) -> List[bytes]:
        """The data of the events that these bytes complete, without empty ones."""
        events = []
        for line in self._lines.feed(data):
            line = line[:-1] if line.endswith(b"\r") else line
            if line:
                self._field(line)
            elif self._data:
                event = b"\n".join(self._data)
                self._data, self._size = [], 0
                if event:
                    events.append(event)
        return events

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name != b"data":
            return
        self._data.append(value[1:] if value.startswith(b" ") else value)
        self._size += len(value)
        if self._size > MAX_MESSAGE:
            raise ProtocolError(f"the server sent an event of more than {MAX_MESSAGE} bytes")
