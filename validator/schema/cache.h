/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - the plans of schemas that were used before, by the hash of their texts. */
#pragma once

#include "validator/schema/plan.h"

#include "common/base/blob.h"

/* The text of a schema and what else its plan depends on. */
struct cache_key {
	const struct blob *schema, *documents; /* documents: NULL or empty: none */
	enum draft draft;
	bool formats;
};

/*
 * The plan of a schema, made now or before; the cache owns it, until the next call.  NULL with
 * schema_invalid or limit_exceeded, or with invalid_argument if a text is not JSON.
 */
const struct plan *cache_plan(const struct cache_key *, struct err *);
/* For tests: forgets all plans. */
void cache_clear(void);
/* Forgets plans that are too large to be kept, when they are not used any more. */
void cache_settle(void);
