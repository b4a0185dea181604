/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.c - measures texts, divides the available room among the long ones, and cuts them.  Leaves
 * out what a program drew over.
 *
 * The length of a text is that of its JSON, including escapes, because that is what a model
 * receives.
 */
#include "gateway/mcp/resource/fit.h"

#include "gateway/mcp/resource/fold.h"
#include "gateway/mcp/resource/keep.h"
#include "gateway/rpc/write.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <stdio.h>
#include <string.h>

enum {
	TEXTS = 64,      /* texts that are considered; no reply has more long ones */
	SHORT = 1024,    /* texts up to this length stay unchanged */
	ROOM_MIN = 4096, /* for all texts together, however long the rest is */
	GAP_MAX = 256,   /* the note in place of the text that was removed */
	BYTE_MAX = 6,    /* the largest cost of one byte */
};

struct text {
	json_t *holder; /* the object that contains it */
	enum msg_id of; /* the message of that object */
	const struct field *field;
	size_t cost;
};

struct texts_found {
	struct text items[TEXTS];
	size_t count, most; /* most: costs above it are not measured exactly */
};

/* ---- measuring ---- */

struct count {
	size_t bytes, most;
};

static int
count(const char *data, size_t size, void *self)
{
	struct count *c = self;

	(void)data;
	c->bytes += size;
	return c->bytes <= c->most ? 0 : -1;
}

/* Stops at `most`: a program may print megabytes, and measuring blocks the loop for every
 * client. */
static size_t
cost_of(const json_t *value, size_t most)
{
	struct count c = { .most = most };

	write_json(value, count, &c);
	return c.bytes;
}

static size_t
cost_of_byte(unsigned char c)
{
	if (c == '"' || c == '\\')
		return 2;
	if (c >= ' ')
		return 1;
	return strchr("\n\t\r\b\f", c) != NULL && c != '\0' ? 2 : 6;
}

static void
add(struct texts_found *found, json_t *holder, enum msg_id of, const struct field *f)
{
	const json_t *value = json_object_get(holder, f->name);

	if (json_is_string(value) && json_string_length(value) < SHORT / BYTE_MAX)
		return;

	size_t cost = cost_of(value, found->most);

	if (cost <= SHORT || found->count == TEXTS)
		return;
	found->items[found->count++] = (struct text){ holder, of, f, cost };
}

static const struct field *
field_of(enum msg_id id, enum kind kind, const char *name)
{
	const struct message *m = &messages[id];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (f->kind == kind && (name == NULL || strcmp(f->name, name) == 0))
			return f;
	return NULL;
}

/* A list may only be cut if the reply has a field to say so, and nothing in it can itself be
 * cut. */
static bool
may_cut_list(enum msg_id id, const struct field *f)
{
	return (field_of(id, KIND_FLAG, "truncated") != NULL ||
		   field_of(id, KIND_TEXTS, "notes") != NULL) &&
	       field_of(f->of, KIND_PAGE, NULL) == NULL;
}

static void
find(struct texts_found *found, enum msg_id id, json_t *value)
{
	const struct message *m = &messages[id];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		bool may_be_long = f->kind == KIND_PAGE || f->kind == KIND_ANY ||
		                   f->kind == KIND_ITEM || f->kind == KIND_LIST;
		json_t *member = may_be_long ? json_object_get(value, f->name) : NULL, *item;
		size_t i;

		if (member == NULL)
			continue;
		if (f->kind == KIND_PAGE || f->kind == KIND_ANY ||
		    (f->kind == KIND_LIST && may_cut_list(id, f)))
			add(found, value, id, f);
		if (f->kind == KIND_ITEM)
			find(found, f->of, member);
		json_array_foreach(f->kind == KIND_LIST ? member : NULL, i, item)
		    find(found, f->of, item);
	}
}

/* The cost of the value without those texts. */
static size_t
cost_of_rest(const struct texts_found *found, const json_t *value)
{
	json_t *taken[TEXTS];
	size_t cost, nulls = found->count * (sizeof "null" - 1);

	for (size_t i = 0; i < found->count; i++) {
		const struct text *t = &found->items[i];

		taken[i] = json_incref(json_object_get(t->holder, t->field->name));
		json_object_set_new(t->holder, t->field->name, json_null());
	}
	cost = cost_of(value, found->most);
	for (size_t i = 0; i < found->count; i++)
		json_object_set_new(found->items[i].holder, found->items[i].field->name, taken[i]);
	return cost > nulls ? cost - nulls : 0;
}

/* The length for each text so that all fit into room: short texts leave their share to the
 * others. */
static size_t
share_of(const struct texts_found *found, size_t room)
{
	size_t share = 0, next = room / found->count;

	while (next > share) {
		size_t left = room, long_ones = 0;

		share = next;
		for (const struct text *t = found->items; t < found->items + found->count; t++) {
			if (t->cost <= share)
				left -= t->cost;
			else
				long_ones++;
		}
		next = long_ones == 0 ? share : left / long_ones;
	}
	return share;
}

/* ---- cutting ---- */

/* A program's text may contain zero bytes. */
static json_t *
with_gap(const json_t *text, size_t head, size_t tail, const char *uri)
{
	const char *bytes = json_string_value(text);
	size_t rest = json_string_length(text) - tail;
	char gap[GAP_MAX];
	int n = snprintf(gap, sizeof gap, "\n[... %zu bytes left out here; whole text: %s ...]\n",
	    tail - head, uri);
	auto_free char *all = malloc(head + (size_t)n + rest);

	if (all == NULL)
		return NULL;
	memcpy(mempcpy(mempcpy(all, bytes, head), gap, (size_t)n), bytes + tail, rest);
	return json_stringn_nocheck(all, head + (size_t)n + rest);
}

/* Removes the middle of text; the rest costs about share bytes. */
static json_t *
cut(const json_t *text, size_t share, const char *uri)
{
	const char *bytes = json_string_value(text);
	size_t size = json_string_length(text), half = (share - GAP_MAX) / 2;
	size_t head = 0, tail = size, cost = 0;

	while (head < tail && (cost += cost_of_byte((unsigned char)bytes[head])) <= half)
		head++;
	for (cost = 0; tail > head;) {
		cost += cost_of_byte((unsigned char)bytes[tail - 1]);
		if (cost > half)
			break;
		tail--;
	}
	while (head > 0 && utf8_inside(bytes, head, size))
		head--;
	while (utf8_inside(bytes, tail, size))
		tail++;
	return with_gap(text, head, tail, uri);
}

/* The whole as a text; for JSON, its JSON text. */
static json_t *
whole_of(const struct text *t)
{
	json_t *value = json_object_get(t->holder, t->field->name);

	if (t->field->kind == KIND_PAGE || json_is_string(value))
		return json_incref(value);

	size_t size;
	auto_free char *text = write_whole(value, SIZE_MAX, &size);

	return text == NULL ? NULL : json_stringn_nocheck(text, size);
}

/* The first items, as many as cost no more than share. */
static json_t *
cut_list(const json_t *list, size_t share)
{
	json_t *part = json_array(), *item;
	size_t i, cost = 0;

	json_array_foreach((json_t *)(uintptr_t)list, i, item)
	{
		cost += cost_of(item, share) + 1;
		if (cost > share - GAP_MAX || json_array_append(part, item) < 0)
			break;
	}
	return part;
}

/* The field that says that a program's output was cut. */
static const struct field *
flag_of(enum msg_id id, const struct field *f)
{
	char name[64];

	snprintf(name, sizeof name, "%s_truncated", f->name);
	return field_of(id, KIND_FLAG, name);
}

static void
flag(const struct text *t)
{
	const struct field *truncated = flag_of(t->of, t->field);

	if (truncated != NULL)
		json_object_set_new(t->holder, truncated->name, json_true());
	if (t->field->kind == KIND_LIST && field_of(t->of, KIND_FLAG, "truncated") != NULL)
		json_object_set_new(t->holder, "truncated", json_true());
}

static int
add_note(json_t *holder, json_t *text)
{
	json_t *notes = json_object_get(holder, "notes");

	if (notes == NULL && json_object_set_new(holder, "notes", notes = json_array()) < 0)
		return json_decref(text), -1;
	return json_array_append_new(notes, text);
}

/* A text has the note in its middle, a list has it in a field beside it. */
static int
note(const struct text *t, size_t all, size_t left, const char *uri)
{
	if (t->field->kind != KIND_LIST || field_of(t->of, KIND_TEXTS, "notes") == NULL)
		return 0;
	return add_note(t->holder, json_sprintf("%s: only the first %zu of %zu; whole list: %s",
				       t->field->name, left, all, uri));
}

static json_t *
link_to(const struct text *t, const json_t *whole, const char *uri)
{
	bool json = t->field->kind != KIND_PAGE &&
	            !json_is_string(json_object_get(t->holder, t->field->name));

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I}", "type", "resource_link", "uri", uri,
	    "name", t->field->name, "description",
	    "The whole text, kept for a limited time. URI/OFFSET returns 40,000 bytes from that "
	    "byte on.",
	    "mimeType", json ? "application/json" : "text/plain", "size",
	    (json_int_t)json_string_length(whole));
}

/* The note of a text that cannot be read again says so. */
static int
shorten(const struct account *who, const struct text *t, size_t share, json_t *links)
{
	char uri[KEEP_URI_MAX] = "not kept: run it again and write it to a file";
	json_auto_t *whole = whole_of(t);
	bool kept = whole != NULL && keep_text(who, t->field->name, whole, uri) == 0;
	json_auto_t *link = kept ? link_to(t, whole, uri) : NULL;
	json_t *value = json_object_get(t->holder, t->field->name), *part;

	if (t->field->kind == KIND_LIST)
		part = cut_list(value, share);
	else
		part = whole == NULL ? NULL : cut(whole, share, uri);
	if (part == NULL || (kept && json_array_append(links, link) < 0) ||
	    note(t, json_array_size(value), json_array_size(part), uri) < 0)
		return json_decref(part), -1;
	flag(t);
	return json_object_set_new(t->holder, t->field->name, part);
}

/* ---- lines that were drawn again ---- */

static int
show_folded(const struct account *who, const struct text *t, const struct blob *folded,
    size_t redrawn, json_t *links)
{
	json_t *whole = json_object_get(t->holder, t->field->name);
	char uri[KEEP_URI_MAX] = "not kept";

	if (keep_text(who, t->field->name, whole, uri) == 0 &&
	    json_array_append_new(links, link_to(t, whole, uri)) < 0)
		return -1;
	if (json_object_set_new(
		t->holder, t->field->name, json_stringn_nocheck(folded->data, folded->size)) < 0)
		return -1;
	return add_note(t->holder, json_sprintf("%s: lines were drawn again, as by progress bars. "
						"%zu earlier states are left out; whole text: %s",
				       t->field->name, redrawn, uri));
}

static int
fold(const struct account *who, const struct text *t, json_t *links)
{
	const json_t *whole = json_object_get(t->holder, t->field->name);
	size_t redrawn;
	struct blob folded =
	    fold_redrawn(json_string_value(whole), json_string_length(whole), &redrawn);
	int r = folded.data == NULL ? 0 : show_folded(who, t, &folded, redrawn, links);

	free(folded.data);
	return r;
}

static int
fold_outputs(const struct account *who, enum msg_id id, json_t *value, json_t *links)
{
	const struct message *m = &messages[id];
	int r = 0;

	for (const struct field *f = m->fields; f < m->fields + m->nfields && r == 0; f++) {
		json_t *member = json_object_get(value, f->name), *item;
		size_t i;

		if (f->kind == KIND_PAGE && json_is_string(member) && flag_of(id, f) != NULL)
			r = fold(who, &(struct text){ value, id, f, 0 }, links);
		if (f->kind == KIND_ITEM && member != NULL)
			r = fold_outputs(who, f->of, member, links);
		json_array_foreach(f->kind == KIND_LIST ? member : NULL, i, item) r |=
		    fold_outputs(who, f->of, item, links);
	}
	return r;
}

json_t *
fit_value(const struct account *who, enum msg_id reply, json_t *value, size_t limit)
{
	struct texts_found found = { .most = limit };
	json_t *links = json_array();

	if (limit == 0)
		return links;
	if (fold_outputs(who, reply, value, links) < 0)
		return json_decref(links), NULL;
	find(&found, reply, value);
	/* Measured only now, because what cannot be cut may be very long. */
	if (found.count == 0 || cost_of(value, limit) <= limit)
		return links;

	size_t rest = cost_of_rest(&found, value);
	size_t share = share_of(&found, rest + ROOM_MIN > limit ? ROOM_MIN : limit - rest);

	if (share < SHORT)
		share = SHORT;
	for (const struct text *t = found.items; t < found.items + found.count; t++)
		if (t->cost > share && shorten(who, t, share, links) < 0)
			return json_decref(links), NULL;
	return links;
}
