/* SPDX-License-Identifier: Apache-2.0 */
/* format.c - the table of formats, and those that belong nowhere else. */
#include "validator/schema/format.h"

#include "validator/schema/regex.h"

#include "common/base/auto.h"
#include "common/base/similar.h"

#include <ctype.h>
#include <string.h>

static bool
format_uuid(const char *text, size_t size)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	for (size_t i = 0; i < sizeof form - 1; i++)
		if (i >= size ||
		    (form[i] == '-' ? text[i] != '-' : !isxdigit((unsigned char)text[i])))
			return false;
	return size == sizeof form - 1;
}

static bool
format_regex(const char *text, size_t size)
{
	struct err e;
	struct regex *regex = regex_new(text, size, &e);

	regex_free(regex);
	return regex != NULL;
}

/* clang-format off */
static const struct format formats[] = {
#define FORMAT(name, first, last, check, example) { name, DRAFT_##first, DRAFT_##last, check, example },
#include "validator/schema/formats.def"
};
/* clang-format on */

const struct format *
format_find(enum draft draft, const char *name)
{
	for (const struct format *f = formats; f < formats + COUNT(formats); f++)
		if (f->first <= draft && draft <= f->last && strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

const char *
format_near(enum draft draft, const char *name)
{
	struct similar similar = similar_to(name);

	for (const struct format *f = formats; f < formats + COUNT(formats); f++)
		if (f->first <= draft && draft <= f->last)
			similar_consider(&similar, f->name);
	return similar.best;
}
