/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constant.h - values that are the same in answer after answer, with their text.
 *
 * What a server says of itself and of its tools is most of what it writes, and never changes.
 */
#pragma once

#include <jansson.h>

struct constant {
	json_t *value;
	char *text; /* as write.h writes it, no zero byte at its end */
	size_t size;
};

/*
 * The value is not changed any more, nor freed as long as the process lives; its text is made once.
 * Returns its argument, also where there is no room or memory: it is written anew each time, then.
 */
json_t *constant_add(json_t *);
/* NULL: it is none. */
const struct constant *constant_find(const json_t *);
