/* SPDX-License-Identifier: Apache-2.0 */
/* late.h - deferred replies: they wait, in order, for room in the queue of their connection. */
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

struct late; /* a deferred reply */

/* The deferred replies of one connection of that daemon. Empty: reader set, the rest zeroed. */
struct lates {
	enum peer reader;
	struct late *first, **last;
	size_t count;
};

/*
 * Takes the content of *a when it returns 0. limit_exceeded: too many bytes wait for the reader
 * over all its connections, or for all clients. Failures have a higher limit of their own
 * (internal), so that the failure that replaces a refused reply still fits.
 */
int late_add(struct lates *, struct answer *a, struct err *);
/* The oldest deferred reply; NULL: none. */
struct answer *late_first(struct lates *);
/* Frees the oldest deferred reply. */
void late_drop(struct lates *);
void late_clear(struct lates *);
