/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - the known name that is most similar to a misspelled one. */
#pragma once

#include <stddef.h>

struct nearest {
	const char *wanted, *name; /* name: the best so far, NULL at first */
	size_t distance;
};

/* Keeps name if it differs in fewer letters than the best so far, and in at most a third of them.
 */
void nearest_offer(struct nearest *, const char *name);
