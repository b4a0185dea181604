/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_json.c - an entry into a JSON text, by cutting and putting in, not by writing it anew.
 *
 * Jansson says whether the text is JSON and what it says; where things stand is then found by
 * walking over the text, which needs no care any more, since it is known to be well formed.  What
 * came out is parsed again, and must say what was there before and the entry, nothing else.
 */
#include "compose/cloister/config/merge.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

enum { PARSE = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL };

struct doc {
	const struct merge *m;
	char *bare; /* the text with blanks for comments, so that all stands where it stood */
	json_t *root;
};

/* An object in the text. */
struct object {
	size_t open, first, last_end,
	    close;               /* first: its first key, or close; last_end: or open+1 */
	size_t value, value_end; /* of the member that was looked for; 0: not there */
};

/* ---- walking over text that is known to be JSON ---- */

static size_t
past_space(const char *t, size_t at)
{
	return at + strspn(t + at, " \t\r\n");
}

static size_t
past_string(const char *t, size_t at)
{
	for (at++; t[at] != '"'; at++)
		at += t[at] == '\\';
	return at + 1;
}

static size_t
past_value(const char *t, size_t at)
{
	int depth = 0;

	if (t[at] != '"' && t[at] != '{' && t[at] != '[')
		return at + strcspn(t + at, ",]} \t\r\n");
	do {
		if (t[at] == '"') {
			at = past_string(t, at);
			continue;
		}
		depth += (t[at] == '{') + (t[at] == '[') - (t[at] == '}') - (t[at] == ']');
		at++;
	} while (depth > 0);
	return at;
}

/* Keys may be written with escapes. */
static bool
key_is(const char *t, size_t at, size_t end, const char *name)
{
	json_t *key = json_loadb(t + at, end - at, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	bool same = json_string_length(key) == strlen(name) &&
	            memcmp(json_string_value(key), name, strlen(name)) == 0;

	json_decref(key);
	return same;
}

static struct object
look(const char *t, size_t open, const char *name)
{
	struct object o = { .open = open, .last_end = open + 1 };
	size_t at = o.first = past_space(t, open + 1);

	while (t[at] != '}') {
		size_t key_end = past_string(t, at);
		size_t value = past_space(t, past_space(t, key_end) + 1);

		o.last_end = past_value(t, value);
		if (key_is(t, at, key_end, name)) {
			o.value = value;
			o.value_end = o.last_end;
		}
		at = past_space(t, o.last_end);
		if (t[at] == ',')
			at = past_space(t, at + 1);
	}
	o.close = at;
	return o;
}

/* ---- reading ---- */

/* Where a comment that begins at t ends; 0: none begins there, or it has no end. */
static size_t
comment(const char *t)
{
	if (t[0] != '/' || (t[1] != '/' && t[1] != '*'))
		return 0;
	if (t[1] == '/')
		return strcspn(t, "\n");

	const char *end = strstr(t + 2, "*/");

	return end == NULL ? 0 : (size_t)(end + 2 - t);
}

/* Strings may have no end yet: this is before anything was parsed. */
static size_t
past_string_if_whole(const char *t, size_t at)
{
	for (at++; t[at] != '"' && t[at] != '\0'; at++)
		at += t[at] == '\\' && t[at + 1] != '\0';
	return at + (t[at] == '"');
}

/* Comments become blanks; lines stay. */
static void
blank_comments(char *t)
{
	for (size_t at = 0, size; t[at] != '\0';) {
		if (t[at] == '"') {
			at = past_string_if_whole(t, at);
		} else if ((size = comment(t + at)) > 0) {
			for (; size > 0; size--, at++)
				t[at] = t[at] == '\n' ? '\n' : ' ';
		} else
			at++;
	}
}

/* [1, 2, ] becomes [1, 2  ]; [,] stays, and is refused. */
static void
blank_commas(char *t)
{
	size_t comma = 0;
	bool value = false; /* something stands before */

	for (size_t at = past_space(t, 0); t[at] != '\0'; at = past_space(t, at)) {
		if ((t[at] == '}' || t[at] == ']') && comma > 0)
			t[comma] = ' ';
		comma = t[at] == ',' && value ? at : 0;
		value = strchr(",:[{", t[at]) == NULL;
		at = t[at] == '"' ? past_string_if_whole(t, at) : at + 1;
	}
}

/* The JSON of bare; NULL with *why. */
static json_t *
parse(const char *bare, size_t size, bool commas, json_error_t *why)
{
	auto_free char *strict = strndup(bare, size);

	if (strict == NULL)
		return NULL;
	if (commas)
		blank_commas(strict);
	return json_loadb(strict, size, PARSE, why);
}

static int
read_doc(struct doc *d, struct err *e)
{
	json_error_t why = { .line = 0 };

	d->bare = strndup(d->m->text, d->m->size);
	if (d->bare == NULL || strlen(d->bare) != d->m->size)
		return err_set(e, ERR_invalid_argument, "it has a zero byte in it");
	if (strncmp(d->bare, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
		memset(d->bare, ' ', 3);
	if (d->m->comments)
		blank_comments(d->bare);
	d->root = parse(d->bare, d->m->size, d->m->comments, &why);
	if (d->root == NULL)
		return err_set(
		    e, ERR_invalid_argument, "line %d is not JSON: %.120s", why.line, why.text);
	if (!json_is_object(d->root))
		return err_set(e, ERR_invalid_argument, "it is JSON, but no object");
	return 0;
}

/* ---- writing ---- */

/* The blanks that a line begins with; points into the text. */
struct indent {
	const char *text;
	int size;
};

static struct indent
indent_of(const char *t, size_t at)
{
	while (at > 0 && t[at - 1] != '\n')
		at--;
	return (struct indent){ t + at, (int)strspn(t + at, " \t") };
}

/* Does nothing but blanks stand before it in its line? */
static bool
begins_line(const char *t, size_t at)
{
	struct indent in = indent_of(t, at);

	return in.text + in.size == t + at;
}

/* One step of indentation, as the file has it. */
static struct indent
step_of(const char *t)
{
	size_t first = past_space(t, past_space(t, 0) + 1);
	struct indent in = indent_of(t, first);

	return t[first] == '"' && begins_line(t, first) && in.size > 0 ? in
	                                                               : (struct indent){ "  ", 2 };
}

static struct indent
indent_of_members(const struct object *o, const char *t, char room[64])
{
	struct indent outer = indent_of(t, o->open), step = step_of(t);

	if (o->first < o->close && begins_line(t, o->first))
		return indent_of(t, o->first);
	snprintf(room, 64, "%.*s%.*s", outer.size, outer.text, step.size, step.text);
	return (struct indent){ room, (int)strlen(room) };
}

/* The value, its lines after the first indented for where it stands. */
static int
write_value(FILE *out, const json_t *value, struct indent base, struct indent step)
{
	auto_free char *text = json_dumps(value, JSON_INDENT(1) | JSON_ENCODE_ANY);

	if (text == NULL)
		return -1;
	for (const char *c = text; *c != '\0'; c++) {
		fputc(*c, out);
		if (*c != '\n')
			continue;
		fprintf(out, "%.*s", base.size, base.text);
		for (; c[1] == ' '; c++)
			fprintf(out, "%.*s", step.size, step.text);
	}
	return 0;
}

static int
replace(const struct doc *d, const struct object *o, const json_t *value, FILE *out)
{
	const char *t = d->m->text;

	fwrite(t, 1, o->value, out);
	if (write_value(out, value, indent_of(t, o->value), step_of(d->bare)) < 0)
		return -1;
	fwrite(t + o->value_end, 1, d->m->size - o->value_end, out);
	return 0;
}

/* As the last member, behind the last one and the comments after that. */
static int
append(
    const struct doc *d, const struct object *o, const char *name, const json_t *value, FILE *out)
{
	const char *t = d->m->text;
	char room[64];
	struct indent in = indent_of_members(o, d->bare, room), outer = indent_of(t, o->open);
	bool comma = o->first < o->close && d->bare[past_space(d->bare, o->last_end)] != ',';
	size_t end = o->close;

	while (end > o->last_end && strchr(" \t\r\n", t[end - 1]) != NULL)
		end--;
	fwrite(t, 1, o->last_end, out);
	fputs(comma ? "," : "", out);
	fwrite(t + o->last_end, 1, end - o->last_end, out);
	fprintf(out, "\n%.*s\"%s\": ", in.size, in.text, name);
	if (write_value(out, value, in, step_of(d->bare)) < 0)
		return -1;
	if (memchr(t + end, '\n', o->close - end) == NULL)
		fprintf(out, "\n%.*s", outer.size, outer.text);
	else
		fwrite(t + end, 1, o->close - end, out);
	fwrite(t + o->close, 1, d->m->size - o->close, out);
	return 0;
}

static int
put(const struct doc *d, const json_t *entry, FILE *out)
{
	struct object top = look(d->bare, past_space(d->bare, 0), d->m->section);
	json_auto_t *section = NULL;

	if (top.value == 0) {
		section = json_pack("{s:O}", d->m->name, entry);
		return section == NULL ? -1 : append(d, &top, d->m->section, section, out);
	}

	struct object o = look(d->bare, top.value, d->m->name);

	return o.value != 0 ? replace(d, &o, entry, out) : append(d, &o, d->m->name, entry, out);
}

/* ---- all of it ---- */

/* The entry as it shall be: ours, and of the old one what is not about how to reach a server. */
static json_t *
wanted(const struct merge *m, json_t *old)
{
	json_t *entry = json_copy((json_t *)m->entry), *value;
	const char *key;

	json_object_foreach(old, key, value)
	{
		if (!merge_owns(key, strlen(key)))
			json_object_set(entry, key, value);
	}
	return entry;
}

/* What the text must say afterwards. */
static json_t *
expected(const struct doc *d, json_t *entry)
{
	json_t *all = json_copy(d->root);
	json_t *section = json_copy(json_object_get(all, d->m->section)) ?: json_object();

	json_object_set(section, d->m->name, entry);
	json_object_set_new(all, d->m->section, section);
	return all;
}

static int
check_forms(const struct doc *d, struct err *e)
{
	const char *section = d->m->section, *name = d->m->name;
	json_t *outer = json_object_get(d->root, section), *old = json_object_get(outer, name);

	if (outer != NULL && !json_is_object(outer))
		return err_set(e, ERR_invalid_argument, "its \"%s\" is no object", section);
	if (old != NULL && !json_is_object(old))
		return err_set(
		    e, ERR_invalid_argument, "its \"%s\".\"%s\" is no object", section, name);
	return 0;
}

static int
write_merged(const struct doc *d, json_t *entry, char **merged, struct err *e)
{
	size_t size = 0;
	FILE *out = open_memstream(merged, &size);
	int status = out == NULL ? -1 : put(d, entry, out);

	if ((out != NULL && fclose(out) != 0) || status < 0)
		return err_sys(e, "write the new text");
	if (merge_lines(d->m, merged, e) < 0)
		return -1;

	struct doc after = { .m = &(struct merge){ .text = *merged,
				 .size = strlen(*merged),
				 .section = d->m->section,
				 .name = d->m->name,
				 .comments = d->m->comments } };
	json_auto_t *want = expected(d, entry);

	status = read_doc(&after, e);
	if (status == 0 && !json_equal(after.root, want))
		status = err_set(e, ERR_internal, "the new text does not say what it should");
	json_decref(after.root);
	free(after.bare);
	return status;
}

static int
merge_doc(const struct doc *d, char **merged, struct err *e)
{
	if (check_forms(d, e) < 0)
		return -1;

	json_t *old = json_object_get(json_object_get(d->root, d->m->section), d->m->name);
	json_auto_t *entry = wanted(d->m, old);

	if (json_equal(entry, old))
		return 0;
	if (write_merged(d, entry, merged, e) == 0)
		return 0;
	free(take_ptr(*merged));
	return -1;
}

static int
merge_empty(const struct merge *m, char **merged, struct err *e)
{
	json_auto_t *all = json_pack("{s:{s:O}}", m->section, m->name, m->entry);
	auto_free char *text = all == NULL ? NULL : json_dumps(all, JSON_INDENT(2));

	if (text == NULL || asprintf(merged, "%s\n", text) < 0)
		return err_sys(e, "write the new text");
	return 0;
}

int
merge_json(const struct merge *m, char **merged, struct err *e)
{
	struct doc d = { .m = m };

	*merged = NULL;
	if (m->text[strspn(m->text, " \t\r\n")] == '\0' && strlen(m->text) == m->size)
		return merge_empty(m, merged, e);

	int status = read_doc(&d, e) < 0 ? -1 : merge_doc(&d, merged, e);

	json_decref(d.root);
	free(d.bare);
	return status;
}
