/* SPDX-License-Identifier: Apache-2.0 */
/* requirements.c - the file is a guest's; the parser of pip or npm reads each requirement later, in
 * a box. */
#include "executor/packages/requirements.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	LINE = 255, /* of a requirement */
};

/* Where the line ends without its comment, which a blank precedes, and without blanks. */
static const char *
end_of(const char *line, const char *stop)
{
	for (const char *at = line; at < stop; at++)
		if (*at == '#' && (at == line || isspace((unsigned char)at[-1])))
			stop = at;
	while (stop > line && isspace((unsigned char)stop[-1]))
		stop--;
	return stop;
}

static int
add(struct texts *list, const char *line, const char *end, size_t number, size_t most,
    struct err *e)
{
	if (*line == '-' || end[-1] == '\\' || memmem(line, (size_t)(end - line), " --", 3) != NULL)
		return err_set(e, ERR_invalid_argument,
		    "requirements.txt, line %zu: options are not allowed, only names with versions",
		    number);
	if (end - line > LINE || !utf8_valid(line, (size_t)(end - line)) ||
	    memchr(line, 0, (size_t)(end - line)) != NULL)
		return err_set(e, ERR_invalid_argument,
		    "requirements.txt, line %zu: no requirement of at most %d bytes", number, LINE);
	if (list->count >= most)
		return err_set(
		    e, ERR_limit_exceeded, "requirements.txt: more than %zu packages", most);
	return texts_add_bytes(list, line, (size_t)(end - line)) < 0 ? err_sys(e, "packages") : 0;
}

int
requirements_read(const struct blob *text, size_t most, struct texts *list, struct err *e)
{
	const char *line = text->data, *end = line + text->size, *stop;

	for (size_t number = 1; line < end; line = stop + 1, number++) {
		stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop == NULL ? end : stop;
		while (line < stop && isspace((unsigned char)*line))
			line++;

		const char *last = end_of(line, stop);

		if (last > line && add(list, line, last, number, most, e) < 0)
			return -1;
	}
	return 0;
}

static int
add_dependency(struct texts *list, const char *name, const char *range, size_t most, struct err *e)
{
	char spec[LINE + 1];

	if (range == NULL || snprintf(spec, sizeof spec, "%s@%s", name, range) > LINE)
		return err_set(e, ERR_invalid_argument,
		    "package.json, dependencies: %.64s: no range of at most %d bytes", name, LINE);
	if (list->count >= most)
		return err_set(e, ERR_limit_exceeded, "package.json: more than %zu packages", most);
	return texts_add(list, spec) < 0 ? err_sys(e, "packages") : 0;
}

int
requirements_of_manifest(const struct blob *text, size_t most, struct texts *list, struct err *e)
{
	json_error_t wrong;
	json_t *manifest = json_loadb(text->data, text->size, JSON_REJECT_DUPLICATES, &wrong);
	json_t *all = json_object_get(manifest, "dependencies"), *range;
	const char *name;
	int status = 0;

	if (manifest == NULL)
		return err_set(e, ERR_invalid_argument, "package.json, line %d: %.100s", wrong.line,
		    wrong.text);
	if (all != NULL && !json_is_object(all))
		status =
		    err_set(e, ERR_invalid_argument, "package.json: dependencies is no object");
	json_object_foreach(all, name, range) if (status == 0) status =
	    add_dependency(list, name, json_string_value(range), most, e);
	json_decref(manifest);
	return status;
}
