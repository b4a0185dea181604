/* SPDX-License-Identifier: Apache-2.0 */
/* keyword.c - keywords.def, and a map of it for each draft. */
#include "validator/schema/keyword.h"

#include "validator/schema/map.h"

#include "common/base/auto.h"
#include "common/base/similar.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	LEAST_NAME = 4,
	LONG_NAME = 6, /* from so many letters, two may be wrong */
};

/* clang-format off */
const struct keyword_row keyword_rows[KEYWORD_COUNT] = {
#define KEYWORD(id, name, vocabulary, first, last, form, rule) \
	[KEYWORD_##id] = { KEYWORD_##id, name, VOCABULARY_##vocabulary, DRAFT_##first, \
			   DRAFT_##last, FORM_##form },
#include "validator/schema/keywords.def"
};
/* clang-format on */

static struct {
	enum draft draft;
	struct map keywords;
} drafts[] = { { DRAFT_2020, { 0 } }, { DRAFT_2019, { 0 } }, { DRAFT_7, { 0 } }, { DRAFT_6, { 0 } },
	{ DRAFT_4, { 0 } } };

static void
fill(void)
{
	static struct arena arena;

	for (size_t d = 0; d < COUNT(drafts); d++)
		for (const struct keyword_row *row = keyword_rows;
		     row < keyword_rows + KEYWORD_COUNT; row++)
			if (row->first <= drafts[d].draft && drafts[d].draft <= row->last)
				map_put(&drafts[d].keywords, &arena, row->name, strlen(row->name),
				    (void *)(uintptr_t)row);
}

const struct keyword_row *
keyword_find(enum draft draft, const char *name, size_t size)
{
	size_t d = 0;

	if (drafts[0].keywords.count == 0)
		fill();
	while (drafts[d].draft != draft)
		d++;
	return map_get(&drafts[d].keywords, name, size);
}

/* What else a schema loses without a word: metadata and definitions change no verdict. */
static bool
constrains(const struct keyword_row *row)
{
	return row->vocabulary == VOCABULARY_applicator ||
	       row->vocabulary == VOCABULARY_unevaluated ||
	       row->vocabulary == VOCABULARY_validation || row->id == KEYWORD_dyn_ref;
}

const struct keyword_row *
keyword_elsewhere(enum draft draft, const char *name, size_t size)
{
	const struct keyword_row *found = NULL;

	for (const struct keyword_row *row = keyword_rows; row < keyword_rows + KEYWORD_COUNT;
	     row++)
		if ((row->first > draft || row->last < draft) && constrains(row) &&
		    strlen(row->name) == size && memcmp(row->name, name, size) == 0 &&
		    (found == NULL || found->first < draft))
			found = row;
	return found;
}

/* Schemas have keywords of other programs, too: those that begin with x-, or are short, say little.
 */
const char *
keyword_near(enum draft draft, const char *name)
{
	struct similar similar = similar_to(name);
	size_t size = strlen(name), most = size < LONG_NAME ? 2 : 3;

	if (size < LEAST_NAME || strncasecmp(name, "x-", 2) == 0)
		return NULL;
	similar.distance = most < similar.distance ? most : similar.distance;
	for (const struct keyword_row *row = keyword_rows; row < keyword_rows + KEYWORD_COUNT;
	     row++)
		if (row->first <= draft && draft <= row->last && strlen(row->name) >= LEAST_NAME &&
		    (constrains(row) || row->id == KEYWORD_format))
			similar_consider(&similar, row->name);
	return similar.best;
}
