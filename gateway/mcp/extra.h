/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extra.h - hooks for what a gateway offers in addition to schema.def: the fixtures of tests.  A
 * release sets none.
 *
 * Each function may be NULL.  Those that answer return false for a name that is not theirs.
 * Otherwise *answer is the whole answer, or NULL if it is pending.  See method.h; elicit.h for how
 * to ask the client; logging.h; listen.h for changes.
 */
#pragma once

#include "gateway/mcp/method.h"

struct extra {
	/* Additional tools, resources, resourceTemplates and prompts: new arrays in the form of
	 * that revision. */
	json_t *(*tools)(const struct revision *);
	json_t *(*resources)(const struct revision *);
	json_t *(*templates)(const struct revision *);
	json_t *(*prompts)(const struct revision *);
	/* arguments: an object, or NULL */
	bool (*call)(const struct request *, const char *name, json_t *arguments, json_t **answer);
	bool (*read)(const struct request *, const char *uri, json_t **answer);
	bool (*prompt)(
	    const struct request *, const char *name, json_t *arguments, json_t **answer);
	/* tasks/get, tasks/update, tasks/cancel of that task; and whether that account has such
	 * a task */
	bool (*task)(const struct request *, const char *id, json_t **answer);
	bool (*has_task)(const struct account *, const char *id);
	/* Values of an argument (a new array) of ref, which is the name of a prompt or a
	 * template; NULL: the ref is unknown here. */
	json_t *(*complete)(const char *ref, const char *argument, const char *value);
};

/* Call before the loop starts; the struct must live as long as the process. */
void extra_set(const struct extra *);
/* Never NULL. */
const struct extra *extra_get(void);
