/* SPDX-License-Identifier: Apache-2.0 */
/*
 * large.h - numbers in JSON that Jansson refuses with the whole message, or rounds: integers over
 * 64 bits, what is over the range of a double, and what has more than 15 digits and is no integer.
 *
 * Such a number is parsed as a text with a mark that no client can guess. Code that writes JSON
 * puts the digits back; code that needs a number calls large_digits(). A client must not see a
 * mark.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum large_where {
	LARGE_ARGUMENTS, /* in params.arguments of a message */
	LARGE_ALL,
};

/* A copy of JSON with such numbers as marked texts; from malloc, with its size in *made. NULL:
 * there are none. */
char *large_hide(const char *text, size_t size, enum large_where, size_t *made);
/* A copy with smaller numbers and spaces for them, so that everything else stays in its place:
 * to find out why a text is not JSON. */
char *large_cut(const char *text, size_t size, enum large_where);
/* The number as it was written, of a marked text; NULL: the value is none. */
const char *large_digits(const json_t *);
/* The nearest real for a marked text; NULL: the value is none, or no double is near. */
json_t *large_nearest(const json_t *);
/* Puts the digits back into JSON that was written, in place; returns its size. */
size_t large_show(char *text, size_t size);
/* json_dumps() with the digits of such numbers. */
char *large_dump(const json_t *, size_t flags);
