/* SPDX-License-Identifier: Apache-2.0 */
/* each.h - checks as tests of cmocka, one for every message of the table. */
#pragma once

#include "common/table/schema.h"

struct check {
	const char *name;
	void (*run)(void **state);
};

/* What a check finds in its state. */
enum msg_id each_id(void **state);
/* Runs them all, and `last`, which is for no message, unless it is NULL.  How many failed. */
int each_run(const char *group, const struct check *, size_t count, void (*last)(void **state));
