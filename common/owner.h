/* SPDX-License-Identifier: Apache-2.0 */
/* owner.h - to whom something belongs: a principal, in one of its namespaces. */
#pragma once

#include <stdbool.h>

/* Neither is NULL.  A namespace of "" is none, which is one of its own. */
struct owner {
	char *principal, *namespace;
};

/* Only then may one use what belongs to the other. */
bool owner_equal(const struct owner *, const struct owner *);
/* Of malloc, the caller's; a process that has no memory for it ends. */
struct owner owner_copy(const struct owner *);
void owner_clear(struct owner *);
