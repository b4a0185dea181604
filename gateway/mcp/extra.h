/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extra.h - what a gateway offers beside schema.def: fixtures of tests.  A release sets none.
 *
 * Each function may be NULL.  Those that answer return false for what is not theirs; else *answer
 * is the whole answer, or NULL where it is pending.  See method.h, and elicit.h for how to ask the
 * client, logging.h, listen.h for changes.
 */
#pragma once

#include "gateway/mcp/method.h"

struct extra {
	/* More of tools, resources, resourceTemplates and prompts; new arrays in the form that the
	 * revision has. */
	json_t *(*tools)(const struct revision *);
	json_t *(*resources)(const struct revision *);
	json_t *(*templates)(const struct revision *);
	json_t *(*prompts)(const struct revision *);
	/* arguments: an object, or NULL */
	bool (*call)(const struct request *, const char *name, json_t *arguments, json_t **answer);
	bool (*read)(const struct request *, const char *uri, json_t **answer);
	bool (*prompt)(
	    const struct request *, const char *name, json_t *arguments, json_t **answer);
	/* tasks/get, tasks/update, tasks/cancel of that task; and is there one of that account? */
	bool (*task)(const struct request *, const char *id, json_t **answer);
	bool (*has_task)(const struct account *, const char *id);
	/* Values of an argument (a new array) of ref, which is a prompt's name, or a template;
	 * NULL: not its own. */
	json_t *(*complete)(const char *ref, const char *argument, const char *value);
};

/* Before the loop; lives as long as the process. */
void extra_set(const struct extra *);
/* Never NULL. */
const struct extra *extra_get(void);
