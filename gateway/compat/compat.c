/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compat.c - reads the arguments and writes the results of a call by the rows of compat.def.
 *
 * Trusts the rows.  The client, which passes on what a model wrote, may send anything; an unknown
 * argument is ignored, as in the replaced systems, and logged.
 */
#include "gateway/compat/compat.h"

#include "gateway/compat/convert.h"
#include "gateway/compat/count.h"
#include "gateway/compat/offer.h"
#include "gateway/compat/place.h"
#include "gateway/mcp/advice.h"
#include "gateway/mcp/brief.h"
#include "gateway/rpc/jsonrpc.h"
#include "gateway/rpc/write.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"
#include "common/codec/field.h"

#include <stdio.h>
#include <string.h>

static bool on;
static enum rows_system chosen;

void
compat_choose(const char *toolsets)
{
	on = false;
	for (size_t i = 0; i < ROWS_SYSTEMS; i++) {
		if (strcmp(rows_names[i].toolset, toolsets) != 0)
			continue;
		on = true;
		chosen = (enum rows_system)i;
	}
}

bool
compat_on(void)
{
	return on;
}

enum rows_system
compat_system(void)
{
	return chosen;
}

void
compat_close(struct compat_call *call)
{
	if (call == NULL)
		return;
	json_decref(call->asked);
	json_decref(call->ours);
	free(call);
}

/* ---- arguments ---- */

static bool
is_row_of(const struct compat_call *call, enum rows_system system, const char *tool)
{
	return system == call->offer->system && strcmp(tool, call->offer->tool) == 0;
}

static const struct rows_take *
find_take(const struct compat_call *call, const char *name)
{
	for (const struct rows_take *row = rows_takes; row->tool != NULL; row++)
		if (is_row_of(call, row->system, row->tool) && strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

/* Passes arguments that only core knows, and logs the names of all others. */
static void
pass_others(struct compat_call *call, const json_t *arguments)
{
	const struct message *m = &messages[call->offer->ours];
	char ignored[200] = "";
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)arguments, name, value)
	{
		const struct field *f = field_find(m, 0, name, strlen(name));
		size_t used = strlen(ignored);

		if (find_take(call, name) != NULL)
			continue;
		if (f != NULL && !f->own)
			json_object_set(call->ours, name, value);
		else
			snprintf(ignored + used, sizeof ignored - used, "%s%.40s",
			    used > 0 ? ", " : "", name);
	}
	if (ignored[0] == '\0')
		return;
	utf8_tame(ignored);
	log_info("arguments are unknown here and were ignored", LOG_S("tool", call->offer->tool),
	    LOG_S("arguments", ignored));
}

/* Is the fallback only shown in the schema? */
static bool
only_given(const struct rows_take *row)
{
	return row->how == convert_given || row->how == convert_given_positive;
}

static void
take(struct compat_call *call, const struct rows_take *row, const json_t *arguments)
{
	json_t *value = json_object_get(arguments, row->name);
	bool given = value != NULL && !json_is_null(value);
	json_t *fallback = row->fallback == NULL || row->fallback == rows_needed
	                       ? NULL
	                       : json_loads(row->fallback, JSON_DECODE_ANY, NULL);

	if (!given)
		value = fallback;
	if (value != NULL)
		json_object_set(call->asked, row->name, value);
	if (value != NULL && (given || !only_given(row))) {
		json_t *ours = row->how(call, value, arguments);

		if (ours != NULL && row->ours[0] != '\0')
			place_set(call->ours, row->ours, ours);
		else
			json_decref(ours);
	}
	json_decref(fallback);
}

/* Without what the daemon needs, rows alone answer. */
static bool
lacks_needed(const struct compat_call *call)
{
	const struct message *m = &messages[call->offer->ours];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (f->needed && json_object_get(call->ours, f->name) == NULL)
			return true;
	return false;
}

static void
read_arguments(struct compat_call *call, const json_t *arguments)
{
	pass_others(call, arguments);
	for (const struct rows_take *row = rows_takes; row->tool != NULL; row++)
		if (is_row_of(call, row->system, row->tool))
			take(call, row, arguments);
	for (const struct rows_set *row = rows_sets; row->tool != NULL; row++)
		if (is_row_of(call, row->system, row->tool))
			json_object_set_new(
			    call->ours, row->ours, json_loads(row->value, JSON_DECODE_ANY, NULL));
	call->here = call->offer->ours == MSG_none || lacks_needed(call);
}

/* ---- results ---- */

/* If key and ours begin with the same list, the row applies to each of its items. */
static void give(struct compat_call *, const struct rows_give *, const char *key, const char *ours,
    json_t *value, const json_t *whole);

static bool
give_items(struct compat_call *call, const struct rows_give *row, const char *key, const char *ours,
    json_t *value, const json_t *whole)
{
	const char *end = strstr(key, "[].");
	size_t size = end == NULL ? 0 : (size_t)(end - key);
	json_t *list, *item;
	size_t i;

	if (end == NULL)
		return false;
	list = json_object_getn(value, key, size);
	if (strncmp(ours, key, size + 3) == 0)
		ours += size + 3;
	json_array_foreach(list, i, item) give(call, row, end + 3, ours, item, whole);
	return true;
}

static void
give(struct compat_call *call, const struct rows_give *row, const char *key, const char *ours,
    json_t *value, const json_t *whole)
{
	if (give_items(call, row, key, ours, value, whole))
		return;

	const json_t *from = row->how == convert_asked ? call->asked : value;
	json_t *made = row->how(call, ours[0] != '\0' ? place_get(from, ours) : NULL, whole);

	if (made == NULL && row->fallback != NULL)
		made = json_loads(row->fallback, JSON_DECODE_ANY, NULL);
	if (made != NULL)
		place_set(value, key, made);
}

/* A key that is the row's own, or whose members are. */
static bool
is_given(const struct rows_give *row, const char *path)
{
	size_t size = strlen(path);

	return strncmp(row->key, path, size) == 0 && strchr(".[", row->key[size]) != NULL;
}

static size_t
size_of_place(const char *path)
{
	const char *end = strrchr(path, '.');

	return end == NULL ? 0 : (size_t)(end - path) + 1;
}

/* A key of core's that has another name in the same object. */
static bool
is_renamed(const struct rows_give *row, const char *path)
{
	size_t size = size_of_place(path);

	return strcmp(row->ours, path) == 0 && row->how == convert_same &&
	       size == size_of_place(row->key) && strncmp(row->key, path, size) == 0;
}

static enum brief_verdict
judge(const void *self, const char *path)
{
	const struct compat_call *call = self;
	enum brief_verdict verdict = BRIEF_USUAL;

	for (const struct rows_leave *row = rows_leaves; row->tool != NULL; row++)
		if (is_row_of(call, row->system, row->tool) && strcmp(row->key, path) == 0)
			return BRIEF_DROP;
	for (const struct rows_give *row = rows_gives; row->tool != NULL; row++) {
		if (!is_row_of(call, row->system, row->tool))
			continue;
		if (is_given(row, path))
			return BRIEF_KEEP;
		if (is_renamed(row, path))
			verdict = BRIEF_DROP;
	}
	return verdict;
}

/* Takes the reply's JSON and returns the replaced system's: an object, or an array. */
static json_t *
give_all(struct compat_call *call, json_t *value)
{
	for (const struct rows_give *row = rows_gives; row->tool != NULL; row++) {
		if (!is_row_of(call, row->system, row->tool))
			continue;
		if (row->key[0] != '\0') {
			give(call, row, row->key, row->ours, value, value);
			continue;
		}

		json_t *part = json_incref(place_get(value, row->ours));

		json_decref(value);
		value = part;
	}
	return value;
}

static json_t *
text_content(const struct revision *revision, json_t *text, bool failed)
{
	json_t *result = json_pack(
	    "{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text", text, "isError", failed);

	return result == NULL ? NULL : method_end(revision, result, NULL);
}

/* Takes the value. */
static json_t *
result_of_value(const struct revision *revision, json_t *value, bool failed)
{
	size_t size;
	auto_free char *text = write_whole(value, SIZE_MAX, &size);
	json_t *result =
	    text == NULL ? NULL : text_content(revision, json_stringn_nocheck(text, size), failed);

	if (result != NULL && revision->structured && json_is_object(value) &&
	    rows_names[chosen].content != ROWS_PLAIN)
		json_object_set_new(result, "structuredContent",
		    rows_names[chosen].content == ROWS_WRAPPED ? json_pack("{s:O}", "result", value)
							       : json_incref(value));
	json_decref(value);
	return result;
}

static void
note_end(const struct compat_call *call, bool failed)
{
	count_call(call->offer->tool, failed, (double)(loop_now_us() - call->begun_us) / 1000);
}

json_t *
compat_result(struct compat_call *call, const struct revision *revision, struct rendered rendered)
{
	bool failed = json_is_false(json_object_get(rendered.value, "success"));
	enum msg_id reply = messages[call->offer->ours].reply;
	json_t *result, *whole;

	note_end(call, failed);
	if (rendered.value == NULL)
		return json_decref(rendered.images), NULL;
	count_usage(json_object_get(rendered.value, "usage"));
	failed = failed && rows_names[chosen].errors == ROWS_FULL;
	whole = give_all(call, rendered.value);
	result = result_of_value(revision,
	    brief_of(reply, whole, &(struct brief_form){ .judge = judge, .self = call }), failed);
	brief_put_rest(result, reply, whole);
	json_decref(whole);
	json_array_extend(json_object_get(result, "content"), rendered.images);
	json_decref(rendered.images);
	return result;
}

/* ---- errors ---- */

static const char *
code_of(const struct err *e)
{
	for (const struct rows_named *row = rows_codes; row->theirs != NULL; row++)
		if (row->system == chosen && row->ours == e->code &&
		    strncmp(e->text, row->argument, strlen(row->argument)) == 0)
			return row->theirs;
	return err_name(e->code);
}

/* The workspace has another path for the clients of this system. */
static const char *
named_as_there(char *text)
{
	static const char ours[] = "/workspace", theirs[] = "/mnt/data";
	char *at = strstr(text, ours);

	_Static_assert(sizeof theirs < sizeof ours, "the text does not grow");
	for (; at != NULL; at = strstr(at, ours)) {
		memcpy(at, theirs, sizeof theirs - 1);
		memmove(
		    at + sizeof theirs - 1, at + sizeof ours - 1, strlen(at + sizeof ours - 1) + 1);
	}
	return text;
}

json_t *
compat_error(const struct compat_call *call, const struct revision *revision, const struct err *e)
{
	char said[sizeof e->text];
	json_t *value;

	note_end(call, true);
	if (rows_names[chosen].errors == ROWS_FULL)
		return result_of_error(revision, e);
	memcpy(said, e->text, sizeof said);
	utf8_tame(said);
	if (rows_names[chosen].errors == ROWS_CODE)
		value = json_pack("{s:s, s:o, s:o*}", "error", code_of(e), "message",
		    json_string(named_as_there(said)), "hint", advice_of(err_remedy(e->code)));
	else
		value = json_pack("{s:b, s:s, s:s, s:o*}", "success", 0, "error", said, "code",
		    err_name(e->code), "hint", advice_of(err_remedy(e->code)));
	return value == NULL ? NULL : result_of_value(revision, value, false);
}

/* ---- a call ---- */

/* Takes the result. */
static json_t *
answer_with(const struct request *r, json_t *result)
{
	return result != NULL ? jsonrpc_result(r->origin.id, result)
	                      : jsonrpc_error(r->origin.id, RPC_INTERNAL, "out of memory");
}

static json_t *
say_unknown(const struct request *r, const char *name)
{
	bool plain = rows_names[chosen].content == ROWS_PLAIN;
	json_t *text =
	    plain ? json_string("unknown tool") : json_sprintf("Unknown tool: %.128s", name);

	return answer_with(r, text_content(r->origin.revision, text, !plain));
}

static struct compat_call *
make_call(const struct rows_offer *offer, const json_t *arguments)
{
	struct compat_call *call = calloc(1, sizeof *call);

	must(call != NULL);
	*call = (struct compat_call){ .offer = offer,
		.asked = json_object(),
		.ours = json_object(),
		.begun_us = loop_now_us() };
	read_arguments(call, arguments);
	return call;
}

bool
compat_open(const struct request *r, const char *name, const json_t *arguments,
    struct compat_call **call, json_t **answer)
{
	const struct rows_offer *offer = offer_find(chosen, name);

	if (offer == NULL) {
		*answer = say_unknown(r, name);
		return true;
	}

	offer_round(offer, (json_t *)(uintptr_t)arguments);
	auto_free char *bad = offer_refuse(offer, arguments);

	if (bad != NULL) {
		*answer =
		    answer_with(r, text_content(r->origin.revision,
				       json_sprintf("Input validation error: %s", bad), true));
		return true;
	}

	auto_compat struct compat_call *made = make_call(offer, arguments);

	if (!made->here) {
		*call = take_ptr(made);
		return false;
	}
	*answer = answer_with(r, compat_result(made, r->origin.revision,
				     (struct rendered){ json_array(), json_object() }));
	return true;
}
