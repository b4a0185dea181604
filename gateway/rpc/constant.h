/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constant.h - values that are the same in answer after answer, with their text.
 *
 * What a server says of itself and of its tools is most of what it writes, and never changes.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct constant {
	json_t *value;
	char *text; /* as write.h writes it, no zero byte at its end */
	size_t size;
};

/* Is there room for it, and is it not there yet? */
bool constant_wanted(const json_t *);
/* One that is wanted, which is not changed any more, nor freed as long as the process lives.  Takes
 * its text, of malloc. */
void constant_add(json_t *, char *text, size_t size);
/* NULL: it is none. */
const struct constant *constant_find(const json_t *);
