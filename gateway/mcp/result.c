/* SPDX-License-Identifier: Apache-2.0 */
/* result.c - renders results; the bus has validated the replies, their texts come from hostile
 * programs. */
#include "gateway/mcp/result.h"

#include "gateway/mcp/advice.h"
#include "gateway/mcp/brief.h"
#include "gateway/mcp/method.h"
#include "gateway/mcp/resource/fit.h"
#include "gateway/mcp/resource/uri.h"
#include "gateway/options.h"
#include "gateway/rpc/write.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "common/codec/base64.h"
#include "common/codec/jschema.h"

#include <stdio.h>
#include <string.h>

enum {
	/* No model reads more, and a file of 50 MB would otherwise appear twice in one message. */
	TEXT_BYTES = 1 << 20,
};

/* The JSON of *value as a JSON string; if it is long and elsewhere in the message too, a remark
 * instead. */
static json_t *
text_of(const json_t *value, size_t limit)
{
	size_t size;
	auto_free char *text = write_whole(value, limit, &size);

	return text == NULL
	           ? json_string("{\"note\":\"too long to repeat here; see structuredContent\"}")
	           : json_stringn_nocheck(text, size);
}

static json_t *
content(json_t *text, bool failed)
{
	return json_pack(
	    "{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text", text, "isError", failed);
}

/* ---- pictures ---- */

/* Whether every client that shows images can show it.  A vector image is a document and stays
 * text. */
static bool
is_picture(const struct rich *r)
{
	static const char *const shown[] = { "image/png", "image/jpeg", "image/gif", "image/webp" };

	for (size_t i = 0; i < COUNT(shown); i++)
		if (r->data.data != NULL && strcmp(r->mime_type, shown[i]) == 0)
			return true;
	return false;
}

static int
add_picture(json_t *images, struct rich *r)
{
	auto_free char *text = malloc(base64_room(r->data.size));

	if (text == NULL)
		return -1;

	json_t *data = json_stringn_nocheck(text, base64_write(text, r->data.data, r->data.size));

	blob_clear(&r->data);
	return json_array_append_new(images,
	    json_pack("{s:s, s:o, s:s}", "type", "image", "data", data, "mimeType", r->mime_type));
}

/* Image content of all pictures in *reply, which are removed from it; NULL: no memory. */
static json_t *
take_pictures(enum msg_id id, void *reply)
{
	const struct message *m = &messages[id];
	json_t *images = json_array();

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		struct list *list = (struct list *)((char *)reply + f->offset);

		if (f->kind != KIND_LIST || f->of != MSG_rich)
			continue;
		for (size_t i = 0; i < list->count; i++) {
			struct rich *r = (struct rich *)list->items + i;

			if (is_picture(r) && add_picture(images, r) < 0)
				return json_decref(images), NULL;
		}
	}
	return images;
}

/* ---- files ---- */

enum {
	LINKS = 16, /* in a result; further files have their URIs in the JSON only */
};

static void
add_link(json_t *links, const json_t *file, const char *uri)
{
	json_array_append_new(
	    links, json_pack("{s:s, s:s, s:O, s:O*, s:O*}", "type", "resource_link", "uri", uri,
		       "name", json_object_get(file, "filename"), "mimeType",
		       json_object_get(file, "mime_type"), "size", json_object_get(file, "size")));
}

/* Adds to the files of a session the URIs to read them at; returns new links to them. */
static json_t *
name_files(json_t *value)
{
	const char *session = json_string_value(json_object_get(value, "session_id"));
	json_t *files = json_object_get(value, "artifacts"), *file, *links = json_array();
	size_t i;

	if (session == NULL || !json_is_array(files))
		return links;
	json_array_foreach(files, i, file)
	{
		const char *name = json_string_value(json_object_get(file, "filename"));
		auto_free char *uri = name == NULL ? NULL : uri_of_file(session, name);

		if (uri == NULL)
			continue;
		json_object_set_new(file, "uri", json_string(uri));
		if (json_array_size(files) <= LINKS)
			add_link(links, file, uri);
	}
	return links;
}

/* ---- results ---- */

struct rendered
result_render(enum msg_id tool, void *reply)
{
	json_t *images = take_pictures(messages[tool].reply, reply);
	json_t *value = images == NULL ? NULL : jschema_write(messages[tool].reply, reply);

	advice_fit(value);
	return (struct rendered){ images, value };
}

json_t *
result_of_reply(
    const struct revision *revision, const struct account *who, enum msg_id tool, void *reply)
{
	return result_of_rendered(revision, who, tool, result_render(tool, reply));
}

json_t *
result_of_rendered(const struct revision *revision, const struct account *who, enum msg_id tool,
    struct rendered rendered)
{
	json_t *images = rendered.images, *value = rendered.value;

	if (value == NULL)
		return json_decref(images), NULL;

	json_t *links = name_files(value);
	bool failed = json_is_false(json_object_get(value, "success"));
	json_auto_t *wholes = fit_value(
	    who, messages[tool].reply, value, failed ? options.error_bytes : options.result_bytes);
	size_t limit = revision->structured && !failed ? TEXT_BYTES : SIZE_MAX;
	json_auto_t *brief = brief_of(messages[tool].reply, value, NULL);
	json_t *result = content(text_of(brief, limit), failed);

	json_array_extend(json_object_get(result, "content"), images);
	if (revision->structured) { /* revisions that have resource links */
		json_array_extend(json_object_get(result, "content"), links);
		json_array_extend(json_object_get(result, "content"), wholes);
	}
	json_decref(images);
	json_decref(links);
	if (revision->structured)
		json_object_set(result, "structuredContent", value);
	else
		brief_put_rest(result, messages[tool].reply, value);
	json_decref(value);
	return result == NULL ? NULL : method_end(revision, result, NULL);
}

/* {"code", "message", "hint"}, and the delay before a retry. */
static json_t *
describe(const struct err *e)
{
	char said[sizeof e->text];

	memcpy(said, e->text, sizeof said);
	utf8_tame(said);

	json_t *error = json_pack("{s:s, s:s, s:o*}", "code", err_name(e->code), "message", said,
	    "hint", advice_of_error(e));

	if (e->retry_ms > 0)
		json_object_set_new(error, "retry_ms", json_integer(e->retry_ms));
	return error;
}

json_t *
result_rpc_error(json_t *id, const struct err *e)
{
	bool asked = e->code == ERR_invalid_argument || e->code == ERR_limit_exceeded ||
	             e->code == ERR_not_found || e->code == ERR_file_too_large;
	json_t *data = describe(e);
	json_t *message = json_incref(json_object_get(data, "message"));

	json_object_del(data, "message");

	json_t *answer = jsonrpc_error_data(
	    id, asked ? RPC_PARAMS : RPC_INTERNAL, json_string_value(message), data);

	json_decref(message);
	return answer;
}

json_t *
result_of_error(const struct revision *revision, const struct err *e)
{
	json_t *error = describe(e);
	json_t *value = json_pack("{s:o}", "error", error);
	json_t *result = value == NULL ? NULL : content(text_of(value, SIZE_MAX), true);

	json_decref(value);
	return result == NULL ? NULL : method_end(revision, result, NULL);
}
