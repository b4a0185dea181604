/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - a call in the form of a replaced system, as conversions see it. */
#pragma once

#include <jansson.h>

#include <stdbool.h>
#include <stdint.h>

struct compat_call {
	const struct rows_offer *offer;
	json_t *asked; /* the client's arguments, with defaults */
	json_t *ours;  /* those of offer->ours */
	bool here;     /* answered without a daemon */
	int64_t begun_us;
};

/* convert.h has the conversions.  value: what the row names, or NULL; whole: the arguments or the
 * result so far.  Returns a new value, or NULL: none. */
typedef json_t *call_convert(struct compat_call *, const json_t *value, const json_t *whole);
