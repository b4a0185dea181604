/* SPDX-License-Identifier: Apache-2.0 */
/* media_type.c - see media_type.h; trusts no byte of the text, which may contain zero bytes. */
#include "executor/media_type.h"

#include <string.h>

static size_t
word_size(const char *text, size_t size)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$&-^_.+";
	size_t n = 0;

	while (n < size && memchr(letters, text[n], sizeof letters - 1) != NULL)
		n++;
	return n;
}

bool
media_type_valid(const char *text, size_t size)
{
	size_t type = word_size(text, size);

	if (type == 0 || type + 1 >= size || text[type] != '/')
		return false;
	return type + 1 + word_size(text + type + 1, size - type - 1) == size;
}
