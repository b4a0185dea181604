/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_toml.c - an entry into a TOML text, as a table of its own.
 *
 * Debian has no library for it that C can call, and one that parses and writes anew would lose the
 * user's comments.  What is needed is less than a parser: where each line of meaning begins and
 * ends, and what it is a key or a table of.  Values are only skipped, strings and brackets with
 * care.  Every way to write the entry other than as a table of its own is refused.
 */
#include "compose/cloister/config/merge.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

enum { KEY_PARTS = 2 }; /* of a dotted key those that are looked at */

struct key {
	size_t count;
	struct {
		const char *text;
		size_t size;
	} parts[KEY_PARTS];
};

enum kind { BLANK, PAIR, TABLE, TABLES };

/* A line of meaning: several of the file where a value goes over them. */
struct line {
	enum kind kind;
	const char *begin, *end; /* end: behind its newline */
	struct key key;
};

struct reader {
	const char *text, *at;
	struct err *e;
};

static int
refuse(const struct reader *r, const char *at, const char *what)
{
	size_t line = 1;

	for (const char *c = r->text; c < at; c++)
		line += *c == '\n';
	return err_set(r->e, ERR_invalid_argument, "line %zu: %s", line, what);
}

/* ---- what stands in a line ---- */

static void
skip_blanks(struct reader *r)
{
	r->at += strspn(r->at, " \t");
}

/* Three quotes: over lines; up to two more may stand before the last three. */
static int
skip_long_string(struct reader *r, char quote)
{
	const char *begin = r->at, three[] = { quote, quote, quote, '\0' };

	for (r->at += 3; *r->at != '\0'; r->at++) {
		if (quote == '"' && *r->at == '\\' && r->at[1] != '\0')
			r->at++;
		else if (strncmp(r->at, three, 3) == 0) {
			r->at += 3;
			for (int i = 0; i < 2 && *r->at == quote; i++)
				r->at++;
			return 0;
		}
	}
	return refuse(r, begin, "a string has no end");
}

static int
skip_string(struct reader *r)
{
	const char *begin = r->at, quote = *begin;

	if (begin[1] == quote && begin[2] == quote)
		return skip_long_string(r, quote);
	for (r->at++; *r->at != quote; r->at++) {
		if (quote == '"' && *r->at == '\\' && r->at[1] != '\0')
			r->at++;
		if (*r->at == '\0' || *r->at == '\n')
			return refuse(r, begin, "a string has no end");
	}
	r->at++;
	return 0;
}

/* To the end of its last line, not over the newline. */
static int
skip_value(struct reader *r)
{
	const char *begin = r->at;
	int depth = 0;

	while (*r->at != '\0' && (depth > 0 || *r->at != '\n')) {
		if (*r->at == '#') {
			r->at += strcspn(r->at, "\n");
			continue;
		}
		if (*r->at == '"' || *r->at == '\'') {
			if (skip_string(r) < 0)
				return -1;
			continue;
		}
		depth += (*r->at == '[') + (*r->at == '{') - (*r->at == ']') - (*r->at == '}');
		if (depth < 0)
			return refuse(r, r->at, "a bracket closes what was not open");
		r->at++;
	}
	return depth > 0 ? refuse(r, begin, "a bracket is not closed") : 0;
}

static int
read_part(struct reader *r, const char **text, size_t *size)
{
	static const char bare[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	bool quoted = *r->at == '"' || *r->at == '\'';

	*text = r->at + quoted;
	if (!quoted) {
		r->at += *size = strspn(r->at, bare);
		return *size > 0 ? 0 : refuse(r, r->at, "no key, table or comment");
	}
	if (strncmp(r->at, "\"\"\"", 3) == 0 || strncmp(r->at, "'''", 3) == 0)
		return refuse(r, r->at, "a key cannot go over lines");
	if (skip_string(r) < 0)
		return -1;
	*size = (size_t)(r->at - *text) - 1;
	/* Letters that are spelled by numbers could spell the entry's name. */
	if ((*text)[-1] == '"' &&
	    (memmem(*text, *size, "\\u", 2) || memmem(*text, *size, "\\U", 2)))
		return refuse(
		    r, *text, "a key has \\u in it; write it with the letters themselves");
	return 0;
}

static int
read_key(struct reader *r, struct key *key)
{
	for (key->count = 0;; r->at++) {
		const char *text;
		size_t size = 0;

		skip_blanks(r);
		if (read_part(r, &text, &size) < 0)
			return -1;
		if (key->count < KEY_PARTS) {
			key->parts[key->count].text = text;
			key->parts[key->count].size = size;
		}
		key->count++;
		skip_blanks(r);
		if (*r->at != '.')
			return 0;
	}
}

static int
read_table(struct reader *r, struct line *line)
{
	bool many = r->at[1] == '[';

	line->kind = many ? TABLES : TABLE;
	r->at += 1 + many;
	if (read_key(r, &line->key) < 0)
		return -1;
	if (strncmp(r->at, "]]", 1 + (size_t)many) != 0)
		return refuse(r, r->at, "the name of a table does not end in its bracket");
	r->at += 1 + many;
	skip_blanks(r);
	if (*r->at == '#')
		r->at += strcspn(r->at, "\n");
	r->at += strncmp(r->at, "\r\n", 2) == 0;
	return *r->at == '\n' || *r->at == '\0' ? 0
	                                        : refuse(r, r->at, "more behind a table's name");
}

static int
read_pair(struct reader *r, struct line *line)
{
	line->kind = PAIR;
	if (read_key(r, &line->key) < 0)
		return -1;
	if (*r->at != '=')
		return refuse(r, r->at, "no = behind a key");
	r->at++;
	skip_blanks(r);
	if (strchr("#\r\n", *r->at) != NULL)
		return refuse(r, r->at, "no value behind =");
	return skip_value(r);
}

/* 1: a line; 0: the end; -1: *e. */
static int
read_line(struct reader *r, struct line *line)
{
	*line = (struct line){ .kind = BLANK, .begin = r->at };
	if (*r->at == '\0')
		return 0;
	skip_blanks(r);
	if (strchr("#\r\n", *r->at) != NULL)
		r->at += strcspn(r->at, "\n");
	else if ((*r->at == '[' ? read_table(r, line) : read_pair(r, line)) < 0)
		return -1;
	r->at += *r->at == '\n';
	line->end = r->at;
	return 1;
}

/* ---- where the entry is ---- */

/* Is part i of the key that word? */
static bool
part_is(const struct key *key, size_t i, const char *word)
{
	return key->count > i && key->parts[i].size == strlen(word) &&
	       memcmp(key->parts[i].text, word, strlen(word)) == 0;
}

struct writer {
	const struct merge *m;
	struct reader in;
	FILE *out;
	struct key scope; /* of the pairs that come */
	bool inside, seen;
};

static bool
names_entry(const struct writer *w, const struct key *key)
{
	return part_is(key, 0, w->m->section) && part_is(key, 1, w->m->name);
}

/* Is the entry, or what it would stand in, made by something else than its table? */
static bool
is_elsewhere(const struct writer *w, const struct line *line)
{
	const struct key *key = &line->key;

	if (line->kind == TABLES)
		return (key->count == 1 && part_is(key, 0, w->m->section)) ||
		       (key->count == 2 && names_entry(w, key));
	if (line->kind != PAIR)
		return false;
	if (w->scope.count == 0)
		return (key->count == 1 && part_is(key, 0, w->m->section)) || names_entry(w, key);
	return w->scope.count == 1 && part_is(&w->scope, 0, w->m->section) &&
	       part_is(key, 0, w->m->name);
}

/* A JSON text is a TOML one, but for DEL, which no path or address here may have. */
static void
write_pairs(struct writer *w)
{
	json_t *value;
	const char *key;

	json_object_foreach((json_t *)w->m->entry, key, value)
	{
		auto_free char *text = json_dumps(value, JSON_ENCODE_ANY);

		must(text != NULL && strchr(text, 0x7f) == NULL);
		fprintf(w->out, "%s = %s\n", key, text);
	}
}

static void
copy(struct writer *w, const struct line *line)
{
	fwrite(line->begin, 1, (size_t)(line->end - line->begin), w->out);
}

static int
take_table(struct writer *w, const struct line *line)
{
	w->scope = line->key;
	w->inside = line->kind == TABLE && line->key.count == 2 && names_entry(w, &line->key);
	copy(w, line);
	if (!w->inside)
		return 0;
	if (w->seen)
		return refuse(&w->in, line->begin, "the table is there twice");
	w->seen = true;
	if (line->end[-1] != '\n')
		fputc('\n', w->out);
	write_pairs(w);
	return 0;
}

static int
take_line(struct writer *w, const struct line *line)
{
	if (is_elsewhere(w, line))
		return refuse(&w->in, line->begin,
		    "the entry is not a table of its own, as in [section.name], which is needed");
	if (line->kind == TABLE || line->kind == TABLES)
		return take_table(w, line);
	if (line->kind != PAIR || !w->inside || line->key.count != 1 ||
	    !merge_owns(line->key.parts[0].text, line->key.parts[0].size))
		copy(w, line);
	return 0;
}

static int
take_all(struct writer *w)
{
	struct line line;
	int more;

	while ((more = read_line(&w->in, &line)) > 0)
		if (take_line(w, &line) < 0)
			return -1;
	if (more < 0 || w->seen)
		return more;
	if (w->m->size > 0)
		fputs(w->m->text[w->m->size - 1] == '\n' ? "\n" : "\n\n", w->out);
	fprintf(w->out, "[%s.%s]\n", w->m->section, w->m->name);
	write_pairs(w);
	return 0;
}

int
merge_toml(const struct merge *m, char **merged, struct err *e)
{
	size_t size = 0;

	*merged = NULL;
	if (strlen(m->text) != m->size)
		return err_set(e, ERR_invalid_argument, "it has a zero byte in it");

	/* A byte order mark is no part of the first line. */
	size_t mark = strncmp(m->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	struct writer w = { .m = m, .in = { m->text, m->text + mark, e } };

	w.out = open_memstream(merged, &size);
	if (w.out == NULL)
		return err_sys(e, "write the new text");
	fwrite(m->text, 1, mark, w.out);

	int status = take_all(&w);

	if (fclose(w.out) != 0)
		status = err_sys(e, "write the new text");
	if (status == 0)
		status = merge_lines(m, merged, e);
	if (status < 0 || strcmp(*merged, m->text) == 0)
		free(take_ptr(*merged));
	return status;
}
