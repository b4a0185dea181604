/* SPDX-License-Identifier: Apache-2.0 */
/* owner.h - the owner of an object: a principal in one of its namespaces. */
#pragma once

#include <stdbool.h>

/* Neither is NULL. The namespace "" means none and is a namespace of its own. */
struct owner {
	char *principal, *namespace;
};

/* Only equal owners may use each other's objects. */
bool owner_equal(const struct owner *, const struct owner *);
/* From malloc; the caller frees it. The process ends if memory runs out. */
struct owner owner_copy(const struct owner *);
void owner_clear(struct owner *);
