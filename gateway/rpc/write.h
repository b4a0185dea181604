/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - JSON text, compact, with numbers as short as they can be.
 *
 * Jansson 2.14 writes 17 digits of every real (44.51 as 44.509999999999998), which a model pays for
 * and repeats, and looks at each character of a 60 MB text by itself.
 */
#pragma once

#include <jansson.h>

/* Gives the text of the value to put(), piece by piece; -1 as soon as that does. */
int write_json(const json_t *, int (*put)(const char *data, size_t size, void *self), void *self);
/* The same in one piece of malloc, without a zero byte at its end; NULL: no memory, or over limit.
 */
char *write_whole(const json_t *, size_t limit, size_t *size);

/*
 * The value is not changed any more, nor freed as long as the process lives; its text is made once.
 * Returns its argument, also where there is no room or memory: it is written anew each time, then.
 */
json_t *write_constant(json_t *);
