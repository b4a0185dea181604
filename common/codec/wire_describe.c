/* SPDX-License-Identifier: Apache-2.0 */
/* wire_describe.c - a message as a line of a log, with sizes but without content. */
#include "common/codec/field.h"
#include "common/codec/wire.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct line {
	char *at;
	size_t room;
};

static void describe_message(struct line *, enum msg_id, const void *msg);

static void PRINTF(2, 3) line_add(struct line *line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(line->at, line->room, fmt, ap);
	va_end(ap);

	size_t used = n > 0 && (size_t)n < line->room ? (size_t)n : line->room - 1;

	line->at += used;
	line->room -= used;
}

static void
describe_text(struct line *line, const struct field *f, const void *slot)
{
	(void)f;
	line_add(line, "(%zu bytes)", strlen(*(char *const *)slot));
}

static void
describe_blob(struct line *line, const struct field *f, const void *slot)
{
	(void)f;
	line_add(line, "(%zu bytes)", ((const struct blob *)slot)->size);
}

static void
describe_number(struct line *line, const struct field *f, const void *slot)
{
	if (f->kind == KIND_REAL)
		line_add(line, "%g", *(const double *)slot);
	else if (f->kind == KIND_FLAG)
		line_add(line, "%s", *(const bool *)slot ? "true" : "false");
	else if (f->kind == KIND_INT)
		line_add(line, "%" PRId64, *(const int64_t *)slot);
	else
		line_add(line, "%" PRIu64, *(const uint64_t *)slot);
}

static void
describe_word(struct line *line, const struct field *f, const void *slot)
{
	const char *text = word_text(f->set, *(const int *)slot);

	line_add(line, "%s", text != NULL ? text : "?");
}

static void
describe_items(struct line *line, const struct field *f, const void *slot)
{
	(void)f;
	line_add(line, "(%zu items)", ((const struct list *)slot)->count);
}

static void
describe_item(struct line *line, const struct field *f, const void *slot)
{
	describe_message(line, f->of, item_of(slot));
}

static void
describe_message(struct line *line, enum msg_id id, const void *msg)
{
	static void (*const describe[])(struct line *, const struct field *, const void *) = {
		[KIND_TEXT] = describe_text,
		[KIND_PAGE] = describe_blob,
		[KIND_BLOB] = describe_blob,
		[KIND_ANY] = describe_blob,
		[KIND_UINT] = describe_number,
		[KIND_INT] = describe_number,
		[KIND_REAL] = describe_number,
		[KIND_FLAG] = describe_number,
		[KIND_WORD] = describe_word,
		[KIND_TEXTS] = describe_items,
		[KIND_ITEM] = describe_item,
		[KIND_LIST] = describe_items,
	};
	const struct message *m = &messages[id];
	const char *between = "";

	line_add(line, "%s{", m->name);
	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		const void *slot = (const char *)msg + f->offset;

		if (!field_given(f, slot))
			continue;
		line_add(line, "%s%s=", between, f->name);
		describe[f->kind](line, f, slot);
		between = " ";
	}
	line_add(line, "}");
}

void
wire_describe(enum msg_id id, const void *msg, char *text, size_t size)
{
	struct line line = { text, size };

	if (size > 0)
		describe_message(&line, id, msg);
}
