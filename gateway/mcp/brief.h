/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brief.h - the part of a result that a model reads.
 *
 * Each byte of a tool's text costs the model that gets it, in every turn.  Of a run, the text has
 * what the program gave and what went wrong; layers in force, digests, signatures and resources are
 * for programs, which find them in structuredContent or, where there is none, in _meta.
 */
#pragma once

#include "common/table/schema.h"

#include <jansson.h>

enum brief_verdict { BRIEF_USUAL, BRIEF_KEEP, BRIEF_DROP };

/* What a form of results says about a key of the message; the path is as in "artifacts[].sha256".
 */
struct brief_form {
	enum brief_verdict (*judge)(const void *self, const char *path);
	const void *self;
};

/* A new value with the members of a message's JSON that a model needs, and with all members that
 * are none of the message's.  Nothing is copied that need not be.  The form may be NULL. */
json_t *brief_of(enum msg_id, const json_t *value, const struct brief_form *);
/* Adds to the result's _meta, as "cloister/KEY", what the text of a run leaves out. */
void brief_put_rest(json_t *result, enum msg_id, const json_t *value);
