/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c - one JSON object per line, one write(2) per object, so that lines of several daemons on
 * one descriptor do not mix.
 *
 * Trusts no text: bytes that are not UTF-8, or that would end the line or the string, are escaped.
 * Allocates nothing. A line that cannot be written is lost.
 */
#include "common/base/log.h"

#include "common/base/auto.h"
#include "common/base/timestamp.h"
#include "common/base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	LINE = 16384,
	TEXT_BYTES = 1024, /* of one text, before it is escaped */
	TAIL = 16,         /* kept free for the end of a line */
};

static const char *const levels[] = { "debug", "info", "warn", "error" };
static const char *who = "cloister";
static enum log_level least = LOG_info;

struct line {
	char text[LINE];
	size_t size;
	bool full;
};

static void
add(struct line *l, const char *bytes, size_t size)
{
	if (l->full || l->size + size > LINE - TAIL) {
		l->full = true;
		return;
	}
	memcpy(l->text + l->size, bytes, size);
	l->size += size;
}

static void
add_text(struct line *l, const char *text)
{
	add(l, text, strlen(text));
}

/* Escapes the character at the start and returns its size. No character over U+FFFF needs that. */
static size_t
add_escaped(struct line *l, const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned point = 0xfffd;
	size_t n = 1;
	char escape[8];

	if (*at < 0x80) {
		point = *at;
	} else if (size >= 2 && utf8_valid(at, 2)) {
		point = (at[0] & 0x1fU) << 6 | (at[1] & 0x3fU);
		n = 2;
	} else if (size >= 3 && utf8_valid(at, 3)) {
		point = (at[0] & 0xfU) << 12 | (at[1] & 0x3fU) << 6 | (at[2] & 0x3fU);
		n = 3;
	}
	snprintf(escape, sizeof escape, "\\u%04x", point);
	add_text(l, escape);
	return n;
}

static void
add_string(struct line *l, const char *text)
{
	size_t size = strnlen(text, TEXT_BYTES);

	add_text(l, "\"");
	for (size_t n; size > 0; text += n, size -= n) {
		n = *text == '"' || *text == '\\' ? 0 : utf8_shown(text, size);
		if (n > 0)
			add(l, text, n);
		else
			n = add_escaped(l, text, size);
	}
	add_text(l, "\"");
}

static void
add_value(struct line *l, const struct log_value *v)
{
	size_t before = l->size;
	char number[24];

	add_text(l, ",");
	add_string(l, v->name);
	add_text(l, ":");
	if (v->text != NULL) {
		add_string(l, v->text);
	} else {
		snprintf(number, sizeof number, "%lld", (long long)v->number);
		add_text(l, number);
	}
	if (l->full) /* all or nothing: the line stays JSON */
		l->size = before;
}

static void
add_time(struct line *l)
{
	char text[TIMESTAMP_TEXT];

	timestamp_text(timestamp_now(), 3, text);
	add_text(l, "{\"time\":\"");
	add_text(l, text);
	add_text(l, "\"");
}

void
log_open(const char *daemon, enum log_level from)
{
	tzset(); /* reads /etc/localtime, which the jail does not permit later */
	who = daemon;
	least = from;
}

void
log_write(enum log_level level, const char *text, const struct log_value *values)
{
	struct line l = { .size = 0 };

	if (level < least)
		return;
	add_time(&l);
	add_value(&l, &LOG_S("level", levels[level]));
	add_value(&l, &LOG_S("daemon", who));
	add_value(&l, &LOG_S("text", text));
	for (; values->name != NULL && !l.full; values++)
		add_value(&l, values);
	memcpy(l.text + l.size, l.full ? ",\"cut\":1}\n" : "}\n", l.full ? 10 : 2);
	l.size += l.full ? 10 : 2;
	if (write(STDERR_FILENO, l.text, l.size) < 0)
		return;
}

int
log_parse(const char *level)
{
	for (size_t i = 0; i < COUNT(levels); i++)
		if (strcmp(levels[i], level) == 0)
			return (int)i;
	return -1;
}
