/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c - contents of resources.
 *
 * Files were written by hostile programs.  A file is returned as text only if it is UTF-8 and its
 * type is a text type; otherwise as base64.  Nothing here interprets it.
 */
#include "gateway/mcp/resource/view.h"

#include "gateway/mcp/resource/uri.h"

#include "common/base/auto.h"
#include "common/base/timestamp.h"
#include "common/bus/bus.h"
#include "common/codec/base64.h"

#include <stdio.h>
#include <string.h>

enum {
	STATUS_MS = 1000, /* how long a value that changes with every call may be cached */
};

static const struct cache moving = { STATUS_MS, "private" };

/* ---- contents ---- */

static json_t *
answer(const struct request *r, const char *mime_type, const char *as, json_t *content)
{
	const char *uri = json_string_value(json_object_get(r->params, "uri"));

	return method_complete_for(r,
	    json_pack("{s:[{s:s, s:s, s:o}]}", "contents", "uri", uri, "mimeType", mime_type, as,
		content),
	    &moving);
}

json_t *
view_text(const struct request *r, const char *mime_type, json_t *text)
{
	return answer(r, mime_type, "text", text);
}

static json_t *
answer_json(const struct request *r, const json_t *value)
{
	auto_free char *text = json_dumps(value, JSON_COMPACT);

	return view_text(r, "application/json", text == NULL ? NULL : json_string(text));
}

json_t *
view_absent(const struct request *r)
{
	json_t *uri = json_object_get(r->params, "uri");

	return jsonrpc_error_data(r->origin.id,
	    r->origin.revision->modern ? RPC_PARAMS : RPC_ABSENT, "Resource not found",
	    json_pack("{s:O}", "uri", uri));
}

static json_t *
fail(const struct request *r, const struct reply *reply)
{
	return fan_out_absent(reply) ? view_absent(r) : fan_out_fail(r, reply);
}

json_t *
view_value(const struct request *r, const struct reply *replies, json_t *context)
{
	(void)context;
	return replies[0].value != NULL ? answer_json(r, replies[0].value) : fail(r, replies);
}

/* ---- the server ---- */

static json_t *
daemons(void)
{
	json_t *all = json_object();

	for (size_t i = 0; i < edges_count; i++)
		if (edges[i].client == PEER_gateway)
			json_object_set_new(all, edge_peer_name(edges[i].server),
			    json_string(
				bus_ready(edges[i].server, NULL) ? "ready" : "not connected"));
	return all;
}

static json_t *
part(const struct reply *reply, const char *name)
{
	return json_object_get(reply->value, name);
}

/* Replies: sandbox_info, stats, snapshot_list; a reply that no daemon gave is left out. */
json_t *
view_status(const struct request *r, const struct reply *replies, json_t *context)
{
	json_t *sessions = part(&replies[1], "sessions"),
	       *snapshots = part(&replies[2], "snapshots");
	json_t *status = json_pack("{s:{s:s, s:s}, s:o}", "server", "name", "cloister", "version",
	    CLOISTER_VERSION, "daemons", daemons());

	(void)context;
	if (replies[0].value != NULL)
		json_object_set_new(status, "configuration",
		    json_pack("{s:O*, s:O*, s:O*, s:O*}", "resource_limits",
			part(&replies[0], "resource_limits"), "container_mode",
			part(&replies[0], "container_mode"), "runtimes",
			part(&replies[0], "runtimes"), "isolation",
			part(&replies[0], "isolation")));
	if (replies[1].value != NULL) {
		json_object_set(status, "queue", part(&replies[1], "queue"));
		json_object_set(status, "workspaces", sessions);
		json_object_set_new(
		    status, "workspace_count", json_integer((json_int_t)json_array_size(sessions)));
	}
	if (replies[2].value != NULL)
		json_object_set_new(
		    status, "snapshot_count", json_integer((json_int_t)json_array_size(snapshots)));

	json_t *message = answer_json(r, status);

	json_decref(status);
	return message;
}

/* ---- traces ---- */

/* ISO 8601 with milliseconds. */
static json_t *
time_text(json_int_t ms)
{
	char text[TIMESTAMP_TEXT];

	timestamp_text(
	    (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, 3, text);
	return json_string(text);
}

static const char *
level_of(const char *event)
{
	static const char *const bad[] = { "failed", "timeout", "exceeded", "denied", "violation" };

	for (size_t i = 0; i < COUNT(bad); i++)
		if (strstr(event, bad[i]) != NULL)
			return "warning";
	return "info";
}

static json_t *
trace(const json_t *entry)
{
	static const char *const passed[] = { "execution_id", "session_id", "namespace", "language",
		"code", "wall_ms", "detail" };
	json_t *event = json_object_get(entry, "event");
	const char *name = json_string_value(json_object_get(event, "event"));
	json_t *one = json_pack("{s:o, s:s, s:s, s:O*}", "timestamp",
	    time_text(json_integer_value(json_object_get(event, "time_ms"))), "level",
	    level_of(name == NULL ? "" : name), "message", name == NULL ? "" : name, "sequence",
	    json_object_get(entry, "sequence"));

	for (size_t i = 0; i < COUNT(passed); i++) {
		json_t *value = json_object_get(event, passed[i]);

		if (value != NULL)
			json_object_set(one, passed[i], value);
	}
	return one;
}

/* Reply: audit_page. */
json_t *
view_logs(const struct request *r, const struct reply *replies, json_t *context)
{
	json_t *traces = json_array(), *entry;
	size_t i;

	(void)context;
	json_array_foreach(json_object_get(replies[0].value, "entries"), i, entry)
	    json_array_append_new(traces, trace(entry));

	json_t *logs = json_pack("{s:o}", "traces", traces);
	json_t *message =
	    replies[0].value != NULL ? answer_json(r, logs) : fan_out_fail(r, replies);

	json_decref(logs);
	return message;
}

/* ---- files and snapshots ---- */

static bool
is_text(const char *mime_type)
{
	static const char *const types[] = { "text/", "application/json", "application/xml",
		"application/javascript", "application/x-sh", "application/x-ndjson", "image/svg" };

	for (size_t i = 0; i < COUNT(types); i++)
		if (strncmp(mime_type, types[i], strlen(types[i])) == 0)
			return true;
	return false;
}

/* The decoded text; NULL: it is not UTF-8. */
static json_t *
decode(const json_t *base64)
{
	size_t size = json_string_length(base64), got = 0;
	auto_free char *bytes = malloc(base64_most(size) + 1);

	if (bytes == NULL || base64_read(bytes, &got, json_string_value(base64), size) < 0)
		return NULL;
	return json_stringn(bytes, got);
}

/* Reply: artifact_content. */
json_t *
view_file(const struct request *r, const struct reply *replies, json_t *context)
{
	json_t *base64 = part(&replies[0], "content_base64");
	const char *type = json_string_value(part(&replies[0], "mime_type"));

	(void)context;
	if (base64 == NULL || type == NULL)
		return fail(r, replies);

	json_t *text = is_text(type) ? decode(base64) : NULL;

	return text != NULL ? view_text(r, type, text)
	                    : answer(r, type, "blob", json_incref(base64));
}

/* Reply: snapshot_record.  The members of the snapshot come first, then its files. */
json_t *
view_snapshot(const struct request *r, const struct reply *replies, json_t *context)
{
	json_t *shown, *answered;

	(void)context;
	if (replies[0].value == NULL)
		return fail(r, replies);
	shown = json_copy(part(&replies[0], "snapshot"));
	json_object_del(replies[0].value, "snapshot");
	json_object_update_missing(shown, replies[0].value);
	answered = answer_json(r, shown);
	json_decref(shown);
	return answered;
}

/* Reply: audit_page. */
json_t *
view_audit(const struct request *r, const struct reply *replies, json_t *context)
{
	return replies[0].value != NULL && json_array_size(part(&replies[0], "entries")) == 0
	           ? view_absent(r)
	           : view_value(r, replies, context);
}
