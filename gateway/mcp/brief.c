/* SPDX-License-Identifier: Apache-2.0 */
/* brief.c - leaves out by a table; the values have passed the schema, their texts come from hostile
 * programs. */
#include "gateway/mcp/brief.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

enum { PATH = 128 };

enum {
	OUT = 1,  /* no model needs it */
	META = 2, /* it is in _meta where there is no structuredContent */
};

static const struct quiet {
	const char *path; /* as in brief.h */
	enum msg_id message;
	unsigned where;
} quiet[] = {
	{ "artifacts[].execution_id", MSG_execution, OUT },
	{ "artifacts[].path", MSG_execution, OUT },
	{ "artifacts[].sha256", MSG_execution, OUT },
	{ "artifacts[].signature", MSG_execution, OUT },
	{ "artifacts[].signed_at", MSG_execution, OUT },
	{ "audit_checkpoint", MSG_execution, OUT | META },
	{ "execution_time", MSG_execution, OUT },
	{ "isolation", MSG_execution, META }, /* what is missing is said */
	{ "isolation.backend", MSG_execution, OUT },
	{ "isolation.layers", MSG_execution, OUT },
	{ "isolation.limits_by", MSG_execution, OUT },
	{ "language", MSG_execution, OUT },
	{ "usage", MSG_execution, OUT | META },
	{ "variables", MSG_execution, OUT },
};

static bool
is_out(enum msg_id message, const char *path)
{
	for (const struct quiet *q = quiet; q < quiet + COUNT(quiet); q++)
		if (q->message == message && strcmp(q->path, path) == 0)
			return (q->where & OUT) != 0;
	return false;
}

static bool
is_blank(const json_t *value)
{
	return json_is_false(value) || json_is_null(value) ||
	       (json_is_string(value) && json_string_length(value) == 0) ||
	       (json_is_array(value) && json_array_size(value) == 0) ||
	       (json_is_object(value) && json_object_size(value) == 0);
}

static const struct field *
field_of(enum msg_id message, const char *key)
{
	const struct message *m = &messages[message];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (strcmp(f->name, key) == 0)
			return f;
	return NULL;
}

struct brief {
	enum msg_id root;
	const struct brief_form *form; /* or NULL */
	char path[PATH]; /* of the object that is looked at, with the point behind it */
};

static json_t *brief_object(struct brief *, enum msg_id, const json_t *value);

/* Blank members of other messages may be the answer itself. */
static bool
says_nothing(const struct brief *b, const struct field *f, const json_t *value)
{
	bool plain = b->path[0] == '\0' || strcmp(b->path, "isolation.") == 0;

	return b->root == MSG_execution && plain && is_blank(value) &&
	       (f->kind != KIND_FLAG || !f->needed);
}

static enum brief_verdict
judge(const struct brief *b, const char *key)
{
	enum brief_verdict verdict = BRIEF_USUAL;
	char path[2 * PATH];

	snprintf(path, sizeof path, "%s%s", b->path, key);
	if (b->form != NULL)
		verdict = b->form->judge(b->form->self, path);
	return verdict == BRIEF_USUAL && is_out(b->root, path) ? BRIEF_DROP : verdict;
}

/* The member itself, or a new value of its objects. */
static json_t *
brief_member(struct brief *b, const struct field *f, json_t *value)
{
	size_t size = strlen(b->path), i;
	bool list = f->kind == KIND_LIST && json_is_array(value);
	json_t *all, *item;

	if (f->kind != KIND_ITEM && !list)
		return json_incref(value);
	snprintf(b->path + size, sizeof b->path - size, "%s%s.", f->name, list ? "[]" : "");
	all = list ? json_array() : brief_object(b, f->of, value);
	if (list)
		json_array_foreach(value, i, item)
		    json_array_append_new(all, brief_object(b, f->of, item));
	b->path[size] = '\0';
	return all;
}

static json_t *
brief_object(struct brief *b, enum msg_id message, const json_t *value)
{
	json_t *to, *member;
	const char *key;

	if (!json_is_object(value))
		return json_incref((json_t *)(uintptr_t)value);
	to = json_object();
	json_object_foreach((json_t *)(uintptr_t)value, key, member)
	{
		const struct field *f = field_of(message, key);
		enum brief_verdict verdict = f == NULL ? BRIEF_KEEP : judge(b, key);
		json_t *brief;

		if (verdict == BRIEF_DROP)
			continue;
		brief = f == NULL ? json_incref(member) : brief_member(b, f, member);
		if (verdict == BRIEF_KEEP || !says_nothing(b, f, brief))
			json_object_set_nocheck(to, key, brief);
		json_decref(brief);
	}
	return to;
}

json_t *
brief_of(enum msg_id message, const json_t *value, const struct brief_form *form)
{
	struct brief b = { .root = message, .form = form };

	return brief_object(&b, message, value);
}

void
brief_put_rest(json_t *result, enum msg_id message, const json_t *value)
{
	json_t *old = json_object_get(result, "_meta");
	json_auto_t *meta = old != NULL ? json_incref(old) : json_object();

	for (const struct quiet *q = quiet; q < quiet + COUNT(quiet); q++) {
		json_t *member = (q->where & META) != 0 && q->message == message
		                     ? json_object_get(value, q->path)
		                     : NULL;
		char name[PATH];

		snprintf(name, sizeof name, "cloister/%s", q->path);
		if (member != NULL)
			json_object_set(meta, name, member);
	}
	if (json_object_size(meta) > 0)
		json_object_set(result, "_meta", meta);
}
