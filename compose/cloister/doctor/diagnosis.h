/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis.h - the answer of one check. */
#pragma once

#include "common/base/err.h"

enum diagnosis_state {
	DIAGNOSIS_ok,
	DIAGNOSIS_weaker,    /* programs run, with less */
	DIAGNOSIS_missing,   /* programs need it */
	DIAGNOSIS_unchecked, /* cannot be seen now */
	DIAGNOSIS_COUNT
};

struct diagnosis {
	enum diagnosis_state state;
	char text[400];   /* what was found */
	char remedy[600]; /* the line to type; "": that of checks.def */
};

extern const char *const diagnosis_names[DIAGNOSIS_COUNT];

/* Fills in state and text, which is cut if it is too long. */
void diagnosis_set(struct diagnosis *, enum diagnosis_state, const char *fmt, ...) PRINTF(3, 4);
/* A remedy that depends on what was found. */
void diagnosis_remedy(struct diagnosis *, const char *fmt, ...) PRINTF(2, 3);
