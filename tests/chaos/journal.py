# SPDX-License-Identifier: Apache-2.0
"""Reads auditd's log by the description in common/journal/chain.h, auditd/record.h and auditd/segments.h only."""

import base64
import glob
import hashlib
import os
import struct
from typing import NamedTuple

HEAD = struct.Struct("<4sIQQQ32s")


class Record(NamedTuple):
    number: int
    time_ms: int
    durable: int
    daemon: str
    event: dict


class Damaged(Exception):
    pass


def _unpack(data, at):
    """A msgpack value and its end; only the kinds that an event contains."""
    kind, at = data[at], at + 1
    if kind < 0x80:
        return kind, at
    if kind <= 0x8F:
        return _map(data, at, kind & 0x0F)
    if 0xA0 <= kind <= 0xBF:
        return data[at:at + (kind & 0x1F)].decode(), at + (kind & 0x1F)
    if kind in (0xC2, 0xC3):
        return kind == 0xC3, at
    if kind in (0xD9, 0xDA):
        size = int.from_bytes(data[at:at + kind - 0xD8], "big")
        at += kind - 0xD8
        return data[at:at + size].decode(), at + size
    if kind == 0xDE:
        return _map(data, at + 2, int.from_bytes(data[at:at + 2], "big"))
    numbers = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
               0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
    if kind not in numbers:
        raise Damaged(f"msgpack kind {kind:#x}")
    form = struct.Struct(numbers[kind])
    return form.unpack_from(data, at)[0], at + form.size


def _map(data, at, count):
    out = {}
    for _ in range(count):
        key, at = _unpack(data, at)
        out[key], at = _unpack(data, at)
    return out, at


def _record(number, time_ms, durable, body):
    name = body[0]
    event, end = _unpack(body, 1 + name)
    if end != len(body):
        raise Damaged(f"record {number} has {len(body) - end} bytes too many")
    return Record(number, time_ms, durable, body[1:1 + name].decode(), event)


def _links(path):
    """Head, body and seal of each link of a file; checks each seal."""
    with open(path, "rb") as log:
        data = log.read()
    at = 0
    while at < len(data):
        if data[at] == 0 and data.count(0, at) == len(data) - at:
            return  # preallocated zeros
        head = HEAD.unpack_from(data, at)
        end = at + HEAD.size + head[1]
        if head[0] != b"CLR1" or end + 32 > len(data):
            raise Damaged(f"no whole record at byte {at}")
        seal = data[end:end + 32]
        if hashlib.sha256(data[at:end]).digest() != seal:
            raise Damaged(f"record {head[2]} at byte {at} has another hash")
        yield head, data[at + HEAD.size:end], seal
        at = end + 32


def closed(path):
    """The closed segments beside an audit.log, in order."""
    return sorted(glob.glob(os.path.join(os.path.dirname(path), "audit-" + "[0-9]" * 20 + ".log")))


def read(path, removed=0):
    """All records of an intact log and the last seal; raises Damaged if the chain is broken.  So many records may be missing at
    its start, whose end the first one names."""
    records, previous = [], bytes(32)
    for part in [*closed(path), path]:
        for at, ((_, _, number, time_ms, durable, before), body, seal) in enumerate(_links(part)):
            if number != removed + len(records) + 1 or (before != previous and (records or not removed)) or durable >= number:
                raise Damaged(f"record {number} does not follow")
            records.append(_record(number, time_ms, durable, body))
            if at == 0 and number > 1:
                _check_head(records[-1], before)
            previous = seal
    return records, previous.hex()


def _check_head(record, before):
    _, number, seal, *_ = record.event["detail"].splitlines()
    if (record.daemon, record.event["event"]) != ("auditd", "audit.segment_opened") or int(number) != record.number - 1 or \
            base64.b64decode(seal) != before:
        raise Damaged(f"record {record.number} does not state the end of the segment before")


def spooled(directory):
    """The events that the daemon of this state directory has not sent yet, or has sent and not yet forgotten."""
    return [_unpack(body, 0)[0] for name in ("spool.0", "spool.1") for _, body, _ in _links(os.path.join(directory, name))]


def cut(path, count):
    """Removes the last records, as an attacker who can write the file can; returns how many are left."""
    links = list(_links(path))[:-count]
    with open(path, "r+b") as log:
        log.truncate(sum(HEAD.size + len(body) + len(seal) for _, body, seal in links))
    return len(links)


def rewrite(path, change):
    """change(number, body) returns a new body for each record. All later links are made anew, so that the chain is
    intact."""
    out, previous = bytearray(), bytes(32)
    for (magic, _, number, time_ms, durable, _), body, _ in list(_links(path)):
        body = change(number, body)
        link = HEAD.pack(magic, len(body), number, time_ms, durable, previous) + body
        previous = hashlib.sha256(link).digest()
        out += link + previous
    with open(path, "r+b") as log:
        log.write(out)
        log.truncate(len(out))
