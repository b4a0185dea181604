/* SPDX-License-Identifier: Apache-2.0 */
/* echo.c - finds secrets in a stream, across the borders of what arrives; trusts no byte of it. */
#include "executor/secretd/echo.h"

#include "common/base/must.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

/* Two pieces of a stream, read as one. */
struct joined {
	const char *first, *second;
	size_t nfirst, size;
};

static char
at(const struct joined *text, size_t i)
{
	const char *from = i < text->nfirst ? text->first + i : text->second + (i - text->nfirst);

	return *from;
}

static size_t
common_length(const struct joined *text, size_t from, const struct echo_secret *secret)
{
	size_t n = 0;

	while (n < secret->size && from + n < text->size && at(text, from + n) == secret->data[n])
		n++;
	return n;
}

/* A secret that begins at i is masked to its end, also where another one overlaps it. true: more
 * bytes are needed to know. */
static bool
look(struct echo_filter *echo, const struct joined *text, size_t i)
{
	bool more = false;

	for (size_t n = 0; n < echo->count; n++) {
		size_t same = common_length(text, i, &echo->secrets[n]);

		if (same == echo->secrets[n].size && same > echo->masked)
			echo->masked = same;
		more = more || (same < echo->secrets[n].size && i + same == text->size);
	}
	return more;
}

static char
shown(struct echo_filter *echo, char c)
{
	if (echo->masked == 0)
		return c;
	echo->masked--;
	return '*';
}

void
echo_add(struct echo_filter *echo, const char *secret, size_t size)
{
	must(echo->count < ECHO_SECRETS && size > 0 && size <= ECHO_BYTES);
	echo->secrets[echo->count++] = (struct echo_secret){ secret, size };
}

size_t
echo_pass(struct echo_filter *echo, const char *data, size_t size, char *out)
{
	const struct joined text = { echo->held, data, echo->nheld, echo->nheld + size };
	char rest[ECHO_BYTES];
	size_t i = 0, kept = 0;

	for (; i < text.size && !look(echo, &text, i); i++)
		out[i] = shown(echo, at(&text, i));
	while (i + kept < text.size) {
		rest[kept] = at(&text, i + kept);
		kept++;
	}
	memcpy(echo->held, rest, kept);
	sodium_memzero(rest, kept);
	echo->nheld = kept;
	return i;
}

size_t
echo_end(struct echo_filter *echo, char *out)
{
	const struct joined text = { echo->held, NULL, echo->nheld, echo->nheld };
	size_t n = echo->nheld;

	/* What began as a long secret may contain a short one. */
	for (size_t i = 0; i < n; i++) {
		look(echo, &text, i);
		out[i] = shown(echo, echo->held[i]);
	}
	sodium_memzero(echo->held, sizeof echo->held);
	echo->nheld = 0;
	return n;
}
