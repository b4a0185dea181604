/* SPDX-License-Identifier: Apache-2.0 */
/*
 * large.h - numbers in JSON that Jansson refuses with the whole message: integers over 64 bits, and
 * what is over the range of a double.
 *
 * Such a number is parsed as a text with a mark that no client can guess. Whoever writes JSON puts
 * the digits back; whoever needs a number asks large_digits().
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* A copy of a message with such numbers as marked texts, as far as they are within
 * params.arguments; from malloc, with its size in *made. NULL: no memory. */
char *large_hide(const char *text, size_t size, size_t *made);
/* A copy of any JSON with the largest double for what is over its range. */
char *large_clamp(const char *text, size_t size, size_t *made);
/* The digits of a marked text, with their sign; NULL: the value is none. */
const char *large_digits(const json_t *);
/* Puts the digits back into JSON that was written, in place; returns its size. */
size_t large_show(char *text, size_t size);
