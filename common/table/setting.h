/* SPDX-License-Identifier: Apache-2.0 */
/* setting.h - a row of a table of settings. */
#pragma once

#include "common/table/schema.h"

#include <stdint.h>

struct setting {
	const char *name; /* lower case, underscores */
	enum kind kind;   /* TEXT char *, UINT uint64_t, REAL double, FLAG bool */
	void *to;
	const char *fallback;
	int64_t low, high; /* of the value, or of the bytes of a TEXT */
	const char *also;  /* further environment variables, separated by blanks, or NULL */
	const char *doc;
};
