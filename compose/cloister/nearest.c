/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - edit distance: letters inserted, deleted and replaced. */
#include "compose/cloister/nearest.h"

#include <string.h>

enum { MOST_BYTES = 63 };

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* One row of the matrix at a time: row[k] is the distance of the read part of a to k letters of b.
 */
static size_t
distance(const char *a, const char *b)
{
	size_t row[MOST_BYTES + 1], size = strlen(b);

	for (size_t k = 0; k <= size; k++)
		row[k] = k;
	for (size_t i = 0; a[i] != '\0'; i++) {
		size_t before = row[0]++;

		for (size_t k = 0; k < size; k++) {
			size_t changed = before + (a[i] != b[k]);

			before = row[k + 1];
			row[k + 1] = least(changed, least(row[k], before) + 1);
		}
	}
	return row[size];
}

void
nearest_offer(struct nearest *n, const char *name)
{
	size_t size = strlen(name);

	if (size > MOST_BYTES || strlen(n->wanted) > MOST_BYTES)
		return;

	size_t found = distance(n->wanted, name);

	if (found > (size + 2) / 3 || (n->name != NULL && found >= n->distance))
		return;
	n->name = name;
	n->distance = found;
}
