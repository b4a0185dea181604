/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - what a link of the journal holds: who reported, and what.
 *
 * One byte n, the n bytes of the daemon's name, and the event as the msgpack map of schema.def.
 */
#pragma once

#include "common/journal/chain.h"
#include "common/table/schema.h"

/* The record, of malloc; its size goes to *size.  NULL with *e. */
uint8_t *record_encode(const char *daemon, struct audit_event *, size_t *size, struct err *);
/* A link as an entry, which the caller clears (zeroed after an error). */
int record_decode(const struct chain_link *, struct audit_entry *, struct err *);
