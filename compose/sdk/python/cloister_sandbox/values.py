# SPDX-License-Identifier: Apache-2.0
"""Members of JSON objects from the server, which is not trusted to send the right types."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Type, TypeVar

from .errors import ProtocolError

T = TypeVar("T")
Object = Dict[str, Any]


def optional(object_: Object, name: str, kind: Type[T]) -> Optional[T]:
    """The member, or None if it is absent or null.  Raises ProtocolError for another type."""
    value = object_.get(name)
    if value is None:
        return None
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)  # type: ignore[return-value]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ProtocolError(f"the server sent {name} as {type(value).__name__} instead of {kind.__name__}")
    return value


def required(object_: Object, name: str, kind: Type[T]) -> T:
    value = optional(object_, name, kind)
    if value is None:
        raise ProtocolError(f"the server's reply lacks {name}")
    return value


def objects(object_: Object, name: str) -> List[Object]:
    """The members of a list of objects; empty if it is absent."""
    values = optional(object_, name, list) or []
    if not all(isinstance(value, dict) for value in values):
        raise ProtocolError(f"the server sent {name} with a value that is no object")
    return values


def texts(name: str, values: Optional[Sequence[str]]) -> Optional[List[str]]:
    """A list for the server.  One text is a sequence of texts, too, but not what the caller means."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name}: pass a list of texts, not {values!r}")
    return None if values is None else [*values]


def without_none(**members: Any) -> Object:
    """The arguments of a call: those that are given."""
    return {name: value for name, value in members.items() if value is not None}
