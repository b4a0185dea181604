/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.c - a JSON value as indented lines and tables.
 *
 * Does not trust the texts: a program in a box chooses names of files and variables, and a terminal
 * obeys control characters.
 */
#include "compose/cloister/show.h"

#include "common/base/auto.h"
#include "common/base/must.h"
#include "common/base/timestamp.h"
#include "common/base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_COLUMNS = 16,
	NAME_BYTES = 64,
	MAX_DEPTH = 16,
};

struct column {
	char path[NAME_BYTES];
	int width;
};

struct table {
	const json_t *rows;
	struct column columns[MAX_COLUMNS];
	size_t ncolumns;
};

/* ---- one value ---- */

/* "event.time_ms" of an object. */
static const json_t *
member(const json_t *in, const char *path)
{
	char name[NAME_BYTES];
	size_t size = strcspn(path, ".");

	snprintf(name, sizeof name, "%.*s", (int)size, path);
	in = json_object_get(in, name);
	return path[size] == '.' ? member(in, path + size + 1) : in;
}

static bool
is_time(const char *name)
{
	size_t size = strlen(name);

	return size >= 7 && strcmp(name + size - 7, "time_ms") == 0;
}

static char *
as_time(json_int_t ms)
{
	char *text = malloc(TIMESTAMP_TEXT);

	must(text != NULL);
	timestamp_text((struct timespec){ ms / 1000, ms % 1000 * 1000000 }, 3, text);
	return text;
}

/* One line, from malloc. */
static char *
line_of(const char *name, const json_t *value)
{
	char *text;

	if (json_is_integer(value) && is_time(name))
		return as_time(json_integer_value(value));
	if (json_is_string(value))
		text = strdup(json_string_value(value));
	else if (value == NULL || json_is_null(value))
		text = strdup("-");
	else
		text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
	must(text != NULL);
	utf8_tame(text);
	return text;
}

/* "a, b, c" */
static void
print_texts(const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		auto_free char *text = line_of("", item);

		printf("%s%s", i == 0 ? "" : ", ", text);
	}
	puts(json_array_size(list) == 0 ? "none" : "");
}

/* A text of several lines; tabs are kept. */
static void
print_lines(const char *text, int indent)
{
	while (*text != '\0') {
		size_t size = strcspn(text, "\n");

		printf("%*s", indent, "");
		for (size_t i = 0; i < size;) {
			size_t shown = utf8_shown(text + i, size - i);

			if (shown > 0)
				fwrite(text + i, 1, shown, stdout);
			else
				putchar(text[i] == '\t' ? '\t' : '?');
			i += shown > 0 ? shown : 1;
		}
		putchar('\n');
		text += size + (text[size] == '\n');
	}
}

/* ---- a table ---- */

static void
add_column(struct table *t, const char *path, size_t size)
{
	if (t->ncolumns < MAX_COLUMNS)
		snprintf(t->columns[t->ncolumns++].path, NAME_BYTES, "%.*s", (int)size, path);
}

/* The given ones, or all members of the first row that are not objects or lists. */
static void
choose_columns(struct table *t, const char *given)
{
	const char *name;
	json_t *value;

	while (given != NULL && *given != '\0') {
		size_t size = strcspn(given, ",");

		add_column(t, given, size);
		given += size + (given[size] == ',');
	}
	if (t->ncolumns > 0)
		return;
	json_object_foreach(json_array_get(t->rows, 0), name, value)
	{
		if (!json_is_object(value) && !json_is_array(value))
			add_column(t, name, strlen(name));
	}
}

/* "event.time_ms" is titled time_ms. */
static const char *
title(const struct column *c)
{
	const char *dot = strrchr(c->path, '.');

	return dot == NULL ? c->path : dot + 1;
}

/* Removes columns that are empty in all rows. */
static void
measure(struct table *t)
{
	size_t kept = 0;

	for (size_t k = 0; k < t->ncolumns; k++) {
		struct column *c = &t->columns[k];
		const json_t *row;
		bool used = false;
		size_t i;

		c->width = (int)strlen(title(c));
		json_array_foreach(t->rows, i, row)
		{
			const json_t *value = member(row, c->path);
			auto_free char *text = line_of(c->path, value);

			used = used || value != NULL;
			if ((int)strlen(text) > c->width)
				c->width = (int)strlen(text);
		}
		if (used)
			t->columns[kept++] = *c;
	}
	t->ncolumns = kept;
}

static void
print_cell(const struct table *t, size_t k, const char *text)
{
	bool last = k + 1 == t->ncolumns;

	printf("%-*s%s", last ? 0 : t->columns[k].width, text, last ? "\n" : "  ");
}

static void
print_table(const json_t *rows, const char *columns, int indent)
{
	struct table t = { .rows = rows };
	const json_t *row;
	size_t i;

	choose_columns(&t, columns);
	measure(&t);
	printf("%*s", indent, "");
	for (size_t k = 0; k < t.ncolumns; k++)
		print_cell(&t, k, title(&t.columns[k]));
	json_array_foreach(rows, i, row)
	{
		printf("%*s", indent, "");
		for (size_t k = 0; k < t.ncolumns; k++) {
			auto_free char *text =
			    line_of(t.columns[k].path, member(row, t.columns[k].path));

			print_cell(&t, k, text);
		}
	}
}

/* ---- a tree ---- */

static void print_members(const json_t *object, int depth);

static void
print_list(const json_t *list, const char *columns, int depth)
{
	if (json_is_object(json_array_get(list, 0))) {
		putchar('\n');
		print_table(list, columns, 2 * depth);
	} else {
		print_texts(list);
	}
}

static void
print_value(const char *name, const json_t *value, int depth)
{
	const char *text = json_string_value(value);

	if (json_is_object(value) && depth < MAX_DEPTH) {
		putchar('\n');
		print_members(value, depth);
	} else if (json_is_array(value)) {
		print_list(value, NULL, depth);
	} else if (text != NULL && strchr(text, '\n') != NULL) {
		putchar('\n');
		print_lines(text, 2 * depth);
	} else {
		auto_free char *line = line_of(name, value);

		puts(line);
	}
}

static void
print_members(const json_t *object, int depth)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value)
	{
		auto_free char *shown = strdup(name);

		must(shown != NULL);
		utf8_tame(shown);
		printf("%*s%s: ", 2 * depth, "", shown);
		print_value(name, value, depth + 1);
	}
}

void
show_value(const json_t *value, const char *what)
{
	size_t size = what == NULL ? 0 : strcspn(what, ":");
	char name[NAME_BYTES];

	snprintf(name, sizeof name, "%.*s", (int)size, what == NULL ? "" : what);
	if (size > 0 && json_object_get(value, name) != NULL)
		value = json_object_get(value, name);
	if (json_is_object(value))
		print_members(value, 0);
	else if (json_is_object(json_array_get(value, 0)))
		print_table(value, size > 0 && what[size] == ':' ? what + size + 1 : NULL, 0);
	else if (json_is_array(value))
		print_texts(value);
	else if (json_is_string(value))
		print_lines(json_string_value(value), 0);
	else
		print_value("", value, 0);
}

void
show_problem(const json_t *problem)
{
	static const char *const members[] = { "message", "hint" };
	const char *code = json_string_value(json_object_get(problem, "code"));

	for (size_t i = 0; i < COUNT(members); i++) {
		const json_t *value = json_object_get(problem, members[i]);
		auto_free char *text = line_of("", value);

		if (i == 0 && code != NULL)
			fprintf(stderr, "cloister: %s: %s\n", code, text);
		else if (value != NULL)
			fprintf(stderr, "cloister: %s\n", text);
	}
}

void
show_removed(const json_t *page)
{
	const char *removed = json_string_value(json_object_get(page, "removed"));

	if (removed != NULL)
		fprintf(stderr, "cloister: %s were removed from the log\n", removed);
}
