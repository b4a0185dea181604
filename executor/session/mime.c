/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mime.c - the media type of a file, from libmagic's answer in a file helper and from its name.
 *
 * Names and contents are a hostile program's, and a client may select a viewer by the type: an HTML
 * page with the name x.png or x.txt is reported as HTML.
 */
#include "executor/session/mime.h"

#include "common/base/auto.h"

#include <string.h>
#include <strings.h>

static const char unknown[] = "application/octet-stream", page[] = "text/html";

static const struct kind_of_file {
	const char *extension, *base, *type;
} kinds[] = {
/* clang-format off */
#define MIME(extension, base, type) { extension, base, type },
#include "executor/session/mime.def"
	/* clang-format on */
};

static const struct kind_of_file *
find_kind(const char *filename)
{
	const char *slash = strrchr(filename, '/');
	const char *dot = strrchr(slash != NULL ? slash : filename, '.');

	for (size_t i = 0; dot != NULL && i < COUNT(kinds); i++)
		if (strcasecmp(kinds[i].extension, dot + 1) == 0)
			return &kinds[i];
	return NULL;
}

static bool
begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

const char *
mime_of(const char *filename, const char *told)
{
	const struct kind_of_file *kind = find_kind(filename);

	if (told[0] == 0)
		return kind != NULL ? kind->type : unknown;
	if (strcmp(told, "application/x-empty") == 0 || strcmp(told, "inode/x-empty") == 0)
		told = "text/plain";
	if (kind == NULL || strcmp(told, page) == 0 || !begins_with(told, kind->base))
		return told;
	return kind->type;
}

bool
mime_is_picture(const char *type)
{
	static const char *const shown[] = { "image/png", "image/jpeg", "image/gif", "image/webp" };

	for (size_t i = 0; i < COUNT(shown); i++)
		if (strcmp(type, shown[i]) == 0)
			return true;
	return false;
}

bool
mime_is_text(const char *type)
{
	return begins_with(type, "text/") || strcmp(type, "image/svg+xml") == 0 ||
	       strcmp(type, "application/json") == 0;
}
