/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mime.c - guesses the type of a file.
 *
 * Names and contents are a hostile program's, and a client may hand a file to a viewer by its type:
 * a page of HTML that is called x.png is not told to be an image.
 */
#include "executor/session/mime.h"

#include "common/auto.h"
#include "common/utf8.h"

#include <string.h>
#include <strings.h>

static const char unknown[] = "application/octet-stream";

static const struct kind_of_file {
	const char *extension, *type, *magic;
	size_t size;
} kinds[] = {
/* clang-format off */
#define MIME(extension, type, magic, size) { extension, type, magic, size },
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
begins_with(const struct blob *content, const struct kind_of_file *kind)
{
	return kind->size > 0 && content->size >= kind->size &&
	       memcmp(content->data, kind->magic, kind->size) == 0;
}

static bool
is_text(const struct blob *content)
{
	return memchr(content->data, 0, content->size) == NULL &&
	       utf8_valid(content->data, content->size);
}

const char *
mime_of_name(const char *filename)
{
	const struct kind_of_file *kind = find_kind(filename);

	return kind != NULL ? kind->type : unknown;
}

const char *
mime_of(const char *filename, const struct blob *content)
{
	const struct kind_of_file *kind = find_kind(filename);
	bool text = is_text(content);

	if (kind != NULL && (kind->size > 0 ? begins_with(content, kind) : text))
		return kind->type;
	if (text)
		return "text/plain";
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (begins_with(content, &kinds[i]))
			return kinds[i].type;
	return unknown;
}
