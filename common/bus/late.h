/* SPDX-License-Identifier: Apache-2.0 */
/* late.h - answers that wait for room in the queue of their connection, in their order. */
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

struct late; /* an answer that waits */

/* Of one connection of that daemon; otherwise zeroed: none. */
struct lates {
	enum peer reader;
	struct late *first, **last;
	size_t count;
};

/*
 * Takes the content of *a when it returns 0.  limit_exceeded: too many bytes wait for the reader,
 * over all its connections, or for clients altogether.  A failure is refused later than others, and
 * with internal: what tells of a reply that found no room has some.
 */
int late_add(struct lates *, struct answer *a, struct err *);
/* The one that has waited longest; NULL: none waits. */
struct answer *late_first(struct lates *);
/* Frees that one. */
void late_drop(struct lates *);
void late_clear(struct lates *);
