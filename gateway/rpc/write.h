/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - compact JSON text, with the shortest form of each number.
 *
 * Jansson 2.14 writes 17 digits of every real (44.51 as 44.509999999999998), which a model pays
 * for and repeats.  It also examines each character of a 60 MB text one by one.
 */
#pragma once

#include <jansson.h>

/* Passes the text of the value to put(), piece by piece; returns -1 as soon as put() does. */
int write_json(const json_t *, int (*put)(const char *data, size_t size, void *self), void *self);
/* The same in one buffer from malloc, without a zero byte at its end; NULL: no memory, or over
 * limit. */
char *write_whole(const json_t *, size_t limit, size_t *size);

/*
 * Declares that the value is not changed any more, nor freed while the process lives, so that its
 * text is made once.  Returns its argument, even without room or memory: the text is then written
 * anew each time.
 */
json_t *write_constant(json_t *);
