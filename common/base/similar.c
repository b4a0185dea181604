/* SPDX-License-Identifier: Apache-2.0 */
/* similar.c - compares names by the letters that differ; trusts no name's length. */
#include "common/base/similar.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum {
	LONGEST = 64, /* bytes of names that are compared */
};

static char
folded(char c)
{
	return (char)(c == '-' || c == ' ' ? '_' : tolower((unsigned char)c));
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Are the letters before i and j the same two in the other order? */
static bool
swapped(const char *a, const char *b, size_t i, size_t j)
{
	return i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
	       folded(a[i - 2]) == folded(b[j - 1]);
}

/* How many letters differ, are missing, are too many or have changed places (optimal string
 * alignment), without regard to case and hyphens. */
static size_t
distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), rows[3][LONGEST + 1];

	if (n > LONGEST || m > LONGEST)
		return LONGEST;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			row[j] = least(above[j - 1] + (folded(a[i - 1]) != folded(b[j - 1])),
			    least(above[j], row[j - 1]) + 1);
			if (swapped(a, b, i, j))
				row[j] = least(row[j], rows[(i + 1) % 3][j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

struct similar
similar_to(const char *name)
{
	return (struct similar){ .name = name, .distance = (strlen(name) + 1) / 3 + 1 };
}

void
similar_consider(struct similar *similar, const char *other)
{
	size_t n = strlen(similar->name), m = strlen(other);

	if ((n > m ? n - m : m - n) >= similar->distance)
		return;
	size_t found = distance(similar->name, other);
	if (found < similar->distance) {
		similar->distance = found;
		similar->best = other;
	}
}
