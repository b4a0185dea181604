/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - events of an audit_append in one piece: of each its size, 4 bytes, little-endian, and
 * then its msgpack map (audit_event of schema.def).
 *
 * An event is encoded once, where it happens; auditd decodes it to check it and stores these bytes.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	BATCH_EVENTS_MAX = 1000,
	BATCH_SIZE_BYTES = 4, /* ahead of each event */
	BATCH_BYTES_MAX = 1 << 20,
};

/* Puts an event behind what is there; data has room for BATCH_SIZE_BYTES + size more. */
void batch_put(struct blob *, const void *event, size_t size);
/* A batch of one event, which is encoded; its data is the caller's. */
int batch_of(struct audit_event *, struct blob *, struct err *);
/* The event at *offset, in the batch's memory, and moves behind it.  false: there are no more, or,
 * where *offset is not the batch's size, what stands there is no event. */
bool batch_next(const struct blob *, size_t *offset, struct blob *event);
