/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spent.h - which seals were used, for those that may be used once.
 *
 * Each owner has a list of his own, bounded, of which nothing is forgotten before it has expired:
 * where it is full the use that would expire first goes, and with it every seal of that owner that
 * expires no later, used or not.  So one who floods it makes his own open questions void, nobody
 * else's, and brings none back.
 */
#pragma once

#include "common/base/err.h"

#include <stdint.h>

enum {
	SPENT_ID = 16,      /* bytes that no two seals share */
	SPENT_USES = 128,   /* of one owner, that have not expired */
	SPENT_OWNERS = 1024 /* who have any */
};

struct spending {
	const char *principal, *namespace; /* the owner's; namespace NULL: none */
	const unsigned char *id;           /* SPENT_ID bytes */
	int64_t until_ms, now_ms;          /* when it expires, by the clock that says now_ms */
};

/* From here on it is spent.  -1: invalid_argument, it was before; queue_full, nothing can be noted
 * and so nothing be used. */
int spent_note(const struct spending *, struct err *);
