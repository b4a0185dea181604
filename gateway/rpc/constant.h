/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constant.h - values that recur in many answers, stored with their JSON text.
 *
 * Most of what a server writes describes itself and its tools, and never changes.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct constant {
	json_t *value;
	char *text; /* as write.h writes it, without a zero byte at its end */
	size_t size;
};

/* Whether there is room for the value and it is not stored yet. */
bool constant_wanted(const json_t *);
/* Adds a value for which constant_wanted() is true.  The value must not change any more, nor be
 * freed while the process lives.  Takes its text, allocated with malloc. */
void constant_add(json_t *, char *text, size_t size);
/* NULL: the value is not a stored constant. */
const struct constant *constant_find(const json_t *);
