/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - what went wrong, as a rule sees it. */
#pragma once

#include "validator/schema/keyword.h"

#include <jansson.h>

struct node;
struct place;

/* What went wrong, as a rule sees it. */
struct problem_facts {
	const struct node *node;
	enum keyword keyword;
	const struct place *place;
	const json_t *value;
	const char *expected;
};
