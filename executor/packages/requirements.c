/* SPDX-License-Identifier: Apache-2.0 */
/* requirements.c - the file is a guest's; pip's own parser reads each requirement later, in a box.
 */
#include "executor/packages/requirements.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
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
