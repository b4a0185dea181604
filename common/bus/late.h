/* SPDX-License-Identifier: Apache-2.0 */
/* late.h - answers that wait for room in the queue of their connection, in their order. */
#pragma once

#include "common/codec/wire.h"
#include "common/table/schema.h"

#include <stdint.h>

struct answer {
	enum frame frame;
	uint64_t id;
	enum msg_id message;
	struct packed content;
};

struct late; /* an answer that waits */

/* Of one connection; zeroed: none. */
struct lates {
	struct late *first, **last;
	size_t count, bytes;
};

/*
 * Takes the content of *a when it returns 0.  limit_exceeded: too many bytes wait for `reader`, or
 * for clients altogether.  A failure is refused later than others, and with internal: what tells of
 * a reply that found no room has some.
 */
int late_add(struct lates *, struct answer *a, const char *reader, struct err *);
/* The one that has waited longest; NULL: none waits. */
struct answer *late_first(struct lates *);
/* Frees that one. */
void late_drop(struct lates *);
void late_clear(struct lates *);
