/* SPDX-License-Identifier: Apache-2.0 */
/* deferred.h - deferred replies: they wait, in order, for room in the queue of their connection. */
#pragma once

#include "common/codec/wire.h"
#include "common/table/edges.h"
#include "common/table/schema.h"

#include <stdint.h>

struct answer {
	enum frame frame;
	uint64_t id;
	enum msg_id message;
	struct packed content;
};

struct deferred; /* a deferred reply */

/* The deferred replies of one connection of that daemon. Empty: reader set, the rest zeroed. */
struct deferreds {
	enum peer reader;
	struct deferred *first, **last;
	size_t count;
};

/*
 * Takes the content of *a when it returns 0. limit_exceeded: too many bytes wait for the reader
 * over all its connections, or for all clients. Failures have a higher limit of their own
 * (internal), so that the failure that replaces a refused reply still fits.
 */
int deferred_add(struct deferreds *, struct answer *a, struct err *);
/* The oldest deferred reply; NULL: none. */
struct answer *deferred_first(struct deferreds *);
/* Frees the oldest deferred reply. */
void deferred_drop(struct deferreds *);
void deferred_clear(struct deferreds *);
