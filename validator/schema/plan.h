/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - a compiled schema: a node for each subschema, with a rule for each type of value that
 * its keywords concern.
 *
 * References are followed when the plan is made, except for dynamic ones, so that a check only
 * walks from node to node.  A node exists once, however often it is referred to: schemas may be
 * recursive.
 */
#pragma once

#include "validator/schema/node.h"

struct plan_spec {
	const json_t *schema; /* borrowed, as long as the plan lives */
	json_t *documents;    /* likewise; NULL: none */
	enum draft draft;     /* of what names none */
	bool formats;         /* wrong formats, and contents in draft 7, are errors */
};

/* NULL with *e: schema_invalid or limit_exceeded, and where. */
struct plan *plan_new(const struct plan_spec *, struct err *);
void plan_free(struct plan *);
