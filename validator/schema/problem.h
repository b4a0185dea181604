/* SPDX-License-Identifier: Apache-2.0 */
/* problem.h - what is wrong with a value, collected within a bound. */
#pragma once

#include "validator/schema/facts.h"

#include "common/table/schema.h"

#include <jansson.h>

struct problems {
	struct schema_error *items; /* as in the report; owned */
	size_t count;               /* right behind items, as in a LIST */
	size_t most;
	uint64_t total; /* also those that did not fit */
	size_t parent;  /* the problem that the next ones explain, from 1; 0: none */
	bool detailed; /* explain by all branches of anyOf and oneOf, not only by the closest one */
};

void problem_add(struct problems *, const struct problem_facts *);
/* Forgets all that came after the first `count`, of which there were `total`. */
void problem_forget(struct problems *, size_t count, uint64_t total);
/* How far a branch is from what was meant, by the problems after the first `from`, of which there
 * were `total`; path: where the branch was tried. */
uint64_t problem_distance(const struct problems *, size_t from, uint64_t total, const char *path);
void problem_clear(struct problems *);
