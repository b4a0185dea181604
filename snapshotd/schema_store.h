/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_store.h - registered JSON Schemas on the disk, separate for each owner.
 *
 * An owner is a name of catalog_name().  When a function returns, what it wrote is durable.  After
 * a power loss at any moment, a schema is there completely or not at all.  Any thread may call
 * these functions, but only one at a time may write.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

enum {
	SCHEMA_MAX = 64,             /* schemas of one owner */
	SCHEMA_MAX_BYTES = 4194304,  /* of one, as in schema.def */
	SCHEMA_MAX_OWNER = 16 << 20, /* bytes of all schemas of one owner */
};

/* Opens the directory below state, and removes what a crash left unfinished. */
int schema_store_open(int state, struct err *);
void schema_store_close(void);

/* Writes or replaces the schema about->name. */
int schema_store_put(const char *owner, const struct registered_schema *about,
    const struct blob *schema, struct err *);
/* not_found; schema_invalid if the file is damaged.  The caller clears *about and *schema, which
 * are zeroed; schema NULL: only what the file says about it, without a look at the digest. */
int schema_store_get(const char *owner, const char *name, struct registered_schema *about,
    struct blob *schema, struct err *);
/* Those of the owner by name, with those that are damaged; the caller clears *all, which is
 * zeroed. */
int schema_store_list(const char *owner, struct schema_list *all, struct err *);
/* not_found. */
int schema_store_remove(const char *owner, const char *name, struct err *);
