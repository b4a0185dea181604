/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - the events of an audit_append as one blob: for each, its size (4 bytes, little-endian)
 * and its msgpack map (audit_event of schema.def).
 *
 * The sender encodes an event once; auditd decodes it to check it and stores the same bytes.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	BATCH_EVENTS_MAX = 1000,
	BATCH_SIZE_BYTES = 4, /* before each event */
	BATCH_BYTES_MAX = 1 << 20,
};

/* Appends an event; data must have room for BATCH_SIZE_BYTES + size more bytes. */
void batch_put(struct blob *, const void *event, size_t size);
/* Encodes one event as a batch; the caller owns its data. */
int batch_of(struct audit_event *, struct blob *, struct err *);
/* Returns the event at *offset, within the batch's memory, and advances. false: no more events, or,
 * if *offset is not the size of the batch, malformed data. */
bool batch_next(const struct blob *, size_t *offset, struct blob *event);
