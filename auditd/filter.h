/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - which records a caller wants: always its own, and of those the ones that it names.
 * Only an operator sees those of all principals.
 */
#pragma once

#include "common/base/owner.h"
#include "common/journal/chain.h"
#include "common/table/schema.h"

/* The texts belong to the caller; NULL or "": any. */
struct filter {
	const struct owner *owner;
	const char *namespace, *execution_id, *session_id;
	int event; /* -1: any */
	bool all;  /* of all principals, or of this one: */
	const char *principal;
	uint64_t since_ms, until_ms; /* until_ms 0: no end */
};

/* Sets the event by its name; NULL: any.  Also refuses a filter whose owner has no records. */
int filter_settle(struct filter *, const char *event, struct err *);
/* 1: *entry is the record, which the caller clears. 0: it is not wanted. -1: it is damaged. */
int filter_take(
    const struct filter *, const struct chain_link *, struct audit_entry *entry, struct err *);

/* Says that records were removed, allocated by malloc; NULL with *e. */
char *filter_removed(uint64_t first, uint64_t last, struct err *);
