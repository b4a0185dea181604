/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner.h - the owner of an object: a principal in one of its namespaces.
 *
 * A value without pointers: it is copied by assignment and needs no release.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
	OWNER_PRINCIPAL = 129, /* bytes with the zero byte, as schema.def's envelope allows */
	OWNER_NAMESPACE = 65,
	OWNER_KEY = OWNER_PRINCIPAL + OWNER_NAMESPACE,
};

struct owner {
	char principal[OWNER_PRINCIPAL]; /* "local:1000", "token:ci", "oauth:<iss>#<sub>"; "": none
	                                  */
	char namespace[OWNER_NAMESPACE]; /* "": none, which is a namespace of its own */
};

/* NULL counts as "". false: a text is too long, and nothing is stored. It is not truncated, because
 * it could then name another owner. */
bool owner_set(struct owner *, const char *principal, const char *namespace);
/* Only equal owners may use each other's objects. */
bool owner_equal(const struct owner *, const struct owner *);
/* For the namespaces that a principal divides its own objects into; NULL and "" are "default". */
bool namespace_equal(const char *, const char *);
/* The bytes that identify an owner in a hash: both texts, each with its zero byte. Returns their
 * number. Ids and directories that outlive a process are made from them, so they never change. */
size_t owner_key(const struct owner *, char key[OWNER_KEY]);
