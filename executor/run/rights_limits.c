/* SPDX-License-Identifier: Apache-2.0 */
/* rights_limits.c - the numbers of rights.def that are limits of a run. */
#include "executor/run/rights_limits.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static const struct cap {
	const char *field;
	size_t number, limit; /* in struct rights, in struct limits */
	uint64_t unit;
	bool of_box; /* of the box, which a session made */
} caps[] = {
	{ "timeout", offsetof(struct rights, timeout_seconds), offsetof(struct limits, box.wall_ms),
	    1000, false },
	{ "output_bytes", offsetof(struct rights, output_bytes),
	    offsetof(struct limits, box.output_bytes), 1, false },
	{ "memory", offsetof(struct rights, memory_mb), offsetof(struct limits, box.memory_bytes),
	    LIMITS_MIB, true },
	{ "processes", offsetof(struct rights, processes), offsetof(struct limits, box.processes),
	    1, true },
};

int
rights_limits(struct limits *limits, const struct limits *base, bool own_box,
    const struct rights *rights, struct err *e)
{
	for (const struct cap *cap = caps; rights != NULL && cap < caps + COUNT(caps); cap++) {
		const struct rights_number *most =
		    (const void *)((const char *)rights + cap->number);
		uint64_t *now = (void *)((char *)limits + cap->limit), before;

		memcpy(&before, (const char *)base + cap->limit, sizeof before);
		if (!most->given || *now <= most->value * cap->unit || (cap->of_box && !own_box))
			continue;
		if (*now != before && (cap->unit != 1000 || limits->timed != 0))
			return err_set(e, ERR_limit_exceeded,
			    "%s: %" PRIu64 " is over the limit of policy %s, %" PRIu64, cap->field,
			    *now / cap->unit, rights->name, most->value);
		*now = most->value * cap->unit;
	}
	return 0;
}
