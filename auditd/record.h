/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - the content of a link of the journal: the reporting daemon and its event.
 *
 * One byte n, the n bytes of the daemon's name, and the event as the msgpack map of schema.def.
 */
#pragma once

#include "common/journal/chain.h"
#include "common/table/schema.h"

/* Packs the record of a packed event; returns its size. 0 with *e: it is too large. */
size_t record_pack(
    const char *daemon, const struct blob *event, uint8_t record[CHAIN_RECORD_MAX], struct err *);
/* Decodes a link into an entry, which the caller clears (zeroed after an error). */
int record_decode(const struct chain_link *, struct audit_entry *, struct err *);
