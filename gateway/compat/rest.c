/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rest.c - from a request of the REST API to a message, and from its answer to that of sandboxmcp.
 *
 * Trusts nothing in the request: the message is checked as one of /mcp is.  The answer is the
 * gateway's own, with the output of hostile programs in it.
 */
#include "gateway/compat/rest.h"

#include "gateway/compat/compat.h"
#include "gateway/compat/job.h"
#include "gateway/compat/offer.h"
#include "gateway/compat/openapi.h"
#include "gateway/mcp/dispatch.h"
#include "gateway/options.h"
#include "gateway/rpc/write.h"
#include "gateway/transport/http/exchange.h"
#include "gateway/transport/http/guard.h"
#include "gateway/transport/http/mcp.h"

#include "common/base/auto.h"
#include "common/codec/base64.h"
#include "common/credential/scope.h"

#include <string.h>

#define META_VERSION      REVISION_META "protocolVersion"
#define META_CAPABILITIES REVISION_META "clientCapabilities"

enum {
	BODY = 1,
	TENANT = 2,
	LIMIT = 4,
	OPEN = 8,
	LATER = 16,

	MOST_RECORDS = 500, /* of the log, in one answer */
};

struct rest_route {
	const char *method, *path, *call;
	unsigned from;
	/* Changes the arguments; NULL, or what is wrong with them. */
	const char *(*read)(json_t *arguments);
	/* Takes the result, and returns the answer. */
	json_t *(*write)(const struct http_request *, json_t *value);
	const char *list, *doc;
};

static const char *
tenant_of(const struct http_request *r)
{
	const char *tenant = request_header(r, "X-Tenant-Id");

	return tenant == NULL || *tenant == '\0' ? "default" : tenant;
}

/* ---- arguments, one function for each name in the column "read" ---- */

static const char *
read_same(json_t *arguments)
{
	(void)arguments;
	return NULL;
}

/* A method of the vault takes no other members. */
static const char *
read_secret(json_t *arguments)
{
	json_t *key = json_object_get(arguments, "key"),
	       *value = json_object_get(arguments, "value");
	size_t size = json_string_length(value);

	if (!json_is_string(key) || !json_is_string(value))
		return "key and value are required, and are strings";

	auto_free char *encoded = malloc(base64_room(size));

	must(encoded != NULL);
	base64_write(encoded, json_string_value(value), size);
	json_incref(key);
	json_object_del(arguments, "key");
	json_object_set_new(arguments, "name", key);
	json_object_set_new(arguments, "value", json_string(encoded));
	return NULL;
}

/* ---- answers, one function for each name in the column "write" ---- */

/* Takes the list. */
static json_t *
counted(const struct http_request *r, json_t *list)
{
	return json_pack(
	    "{s:o, s:I}", r->route->rest->list, list, "total", (json_int_t)json_array_size(list));
}

static json_t *
write_same(const struct http_request *r, json_t *value)
{
	(void)r;
	return value;
}

static json_t *
write_list(const struct http_request *r, json_t *value)
{
	json_t *list = json_is_array(value)
	                   ? json_incref(value)
	                   : json_incref(json_object_get(value, r->route->rest->list));

	json_decref(value);
	return counted(r, list != NULL ? list : json_array());
}

static json_t *
write_entries(const struct http_request *r, json_t *value)
{
	const char *action = request_query(r, "action");
	json_t *list = json_array(), *entry;
	size_t i;

	json_array_foreach(value, i, entry)
	{
		const char *own = json_string_value(json_object_get(entry, "action"));

		if (action == NULL || (own != NULL && strcmp(own, action) == 0))
			json_array_append(list, entry);
	}
	json_decref(value);
	return counted(r, list);
}

static json_t *
write_keys(const struct http_request *r, json_t *value)
{
	json_t *list = json_array(), *secret;
	size_t i;

	json_array_foreach(json_object_get(value, "secrets"), i, secret)
	    json_array_append(list, json_object_get(secret, "name"));
	json_decref(value);
	return counted(r, list);
}

static json_t *
write_added(const struct http_request *r, json_t *value)
{
	json_t *answer = json_pack("{s:O}", "added", json_object_get(value, "name"));

	(void)r;
	json_decref(value);
	return answer;
}

static json_t *
write_deleted(const struct http_request *r, json_t *value)
{
	json_decref(value);
	return json_pack("{s:s}", "deleted", r->path);
}

static char *
segment_of(const struct http_request *r)
{
	char *segment = strndup(r->path, strcspn(r->path, "/"));

	must(segment != NULL);
	return segment;
}

static json_t *
write_job(const struct http_request *r, json_t *none)
{
	auto_free char *id = segment_of(r);

	(void)none;
	return job_status(r, tenant_of(r), id);
}

static json_t *
write_jobs(const struct http_request *r, json_t *none)
{
	(void)none;
	return job_list(r, tenant_of(r));
}

static json_t *
write_health(const struct http_request *r, json_t *value)
{
	json_decref(value);
	return json_pack("{s:s, s:s, s:s}", "status", "ok", "namespace", tenant_of(r), "version",
	    CLOISTER_VERSION);
}

static json_t *write_openapi(const struct http_request *, json_t *none);

/* ---- the tables ---- */

/* clang-format off */
static const struct rest_route routes[] = {
#define ROUTE(method, path, call, from, read, write, list, doc) \
	{ method, path, call, from, read_##read, write_##write, list, doc },
#include "gateway/compat/rest.def"
};

static const struct {
	enum err_code code;
	unsigned status;
} statuses[] = {
#define STATUS(code, status) { ERR_##code, status },
#include "gateway/compat/rest.def"
};
/* clang-format on */

_Static_assert(2 * COUNT(routes) <= REST_ROUTES, "REST_ROUTES is the room for all routes");

/* ---- a description of them ---- */

static bool
is_tool(const struct rest_route *route)
{
	return strchr(route->call, '/') == NULL;
}

/* NULL: it has no body. */
static json_t *
body_of(const struct rest_route *route)
{
	if ((route->from & BODY) == 0)
		return NULL;
	if (is_tool(route))
		return offer_schema(offer_find(compat_system(), route->call));
	return json_pack("{s:s, s:{s:{s:s}, s:{s:s}}, s:[s, s]}", "type", "object", "properties",
	    "key", "type", "string", "value", "type", "string", "required", "key", "value");
}

static json_t *
write_openapi(const struct http_request *r, json_t *none)
{
	json_t *document = openapi_begin();

	(void)r;
	(void)none;
	for (size_t i = 0; i < COUNT(routes); i++)
		openapi_add(document, &(struct openapi_route){ .method = routes[i].method,
					  .path = routes[i].path,
					  .doc = routes[i].doc,
					  .body = body_of(&routes[i]),
					  .open = (routes[i].from & OPEN) != 0,
					  .tenant = (routes[i].from & TENANT) != 0,
					  .limit = (routes[i].from & LIMIT) != 0 });
	return document;
}

/* ---- the reply ---- */

static unsigned
status_of(const char *code)
{
	for (size_t i = 0; code != NULL && i < COUNT(statuses); i++)
		if (strcmp(err_name(statuses[i].code), code) == 0)
			return statuses[i].status;
	return MHD_HTTP_BAD_REQUEST;
}

/* Any of the texts but detail may be missing. */
static json_t *
problem(const json_t *detail, const json_t *code, const json_t *hint, unsigned *status)
{
	json_t *answer = json_pack("{s:O}", "detail", detail);

	*status = status_of(json_string_value(code));
	if (code != NULL)
		json_object_set(answer, "code", (json_t *)(uintptr_t)code);
	if (hint != NULL)
		json_object_set(answer, "hint", (json_t *)(uintptr_t)hint);
	return answer;
}

/* The answer for a tool's text, or NULL: the text itself. */
static json_t *
answer_of_text(const struct http_request *r, const json_t *text, bool refused, unsigned *status)
{
	size_t size = json_string_length(text);
	json_auto_t *wrong = refused ? NULL : job_problem(text);
	json_t *answer;

	if (wrong != NULL)
		return problem(json_object_get(wrong, "error"), json_object_get(wrong, "code"),
		    json_object_get(wrong, "hint"), status);
	if (refused) {
		answer = problem(text, NULL, NULL, status);
		*status = MHD_HTTP_UNPROCESSABLE_CONTENT;
		return answer;
	}
	if (r->route->rest->write == write_same && size > JOB_PROBLEM)
		return NULL;
	return r->route->rest->write(r, job_value(text));
}

static json_t *
answer_of_error(const json_t *error, unsigned *status)
{
	const json_t *data = json_object_get(error, "data"), *code = json_object_get(data, "code");
	json_t *answer =
	    problem(json_object_get(error, "message"), code, json_object_get(data, "hint"), status);

	if (code == NULL && json_integer_value(json_object_get(error, "code")) == RPC_INTERNAL)
		*status = MHD_HTTP_INTERNAL_SERVER_ERROR;
	return answer;
}

/* NULL: the tool's text. */
static json_t *
answer_of(const struct http_request *r, const json_t *message, unsigned *status)
{
	const json_t *result = json_object_get(message, "result");
	const json_t *content = json_object_get(result, "content");
	const json_t *text = json_object_get(json_array_get(content, 0), "text");
	bool refused = json_is_true(json_object_get(result, "isError"));

	*status = MHD_HTTP_OK;
	if (result == NULL)
		return answer_of_error(json_object_get(message, "error"), status);
	if (content == NULL)
		return r->route->rest->write(r, json_incref((json_t *)(uintptr_t)result));
	return answer_of_text(r, text, refused, status);
}

/* An answer as exchange_shows() wants it. */
static char *
show(struct http_request *r, const json_t *message, size_t limit, unsigned *status, size_t *size)
{
	const json_t *content = json_object_get(json_object_get(message, "result"), "content");
	const json_t *text = json_object_get(json_array_get(content, 0), "text");
	json_t *answer = answer_of(r, message, status);
	char *shown;

	if (answer != NULL) {
		shown = write_whole(answer, limit, size);
		json_decref(answer);
		return shown;
	}
	*size = json_string_length(text);
	shown = *size > limit ? NULL : malloc(*size);
	return shown == NULL ? NULL : memcpy(shown, json_string_value(text), *size);
}

/* ---- the request ---- */

static bool
add_text(json_t *arguments, const char *name, const char *text, size_t size)
{
	return json_object_set_new(arguments, name, json_stringn(text, size)) == 0;
}

static bool
add_segment(const struct http_request *r, json_t *arguments)
{
	const char *open = strchr(r->route->path, '{');
	char name[32];

	if (open == NULL)
		return true;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(open + 1, "}"), open + 1);
	return add_text(arguments, name, r->path, strcspn(r->path, "/"));
}

static bool
add_limit(const struct http_request *r, json_t *arguments)
{
	const char *text = request_query(r, "limit");
	json_int_t limit = text == NULL ? 50 : strtoll(text, NULL, 10);

	/* Records of one action are found among the newest. */
	if (request_query(r, "action") != NULL)
		limit = MOST_RECORDS;
	json_object_set_new(arguments, "limit", json_integer(limit));
	return limit >= 1 && limit <= MOST_RECORDS &&
	       (text == NULL || text[strspn(text, "0123456789")] == '\0');
}

/* NULL, or what is wrong. */
static const char *
add_arguments(const struct http_request *r, json_t *arguments)
{
	const struct rest_route *route = r->route->rest;
	const char *tenant = tenant_of(r);

	if (!add_segment(r, arguments))
		return "the path is not UTF-8";
	if ((route->from & TENANT) != 0 &&
	    (!add_text(arguments, "namespace", tenant, strlen(tenant)) ||
		(is_tool(route) && !add_text(arguments, "tenant", tenant, strlen(tenant)))))
		return "X-Tenant-Id is not UTF-8";
	if ((route->from & LIMIT) != 0 && !add_limit(r, arguments))
		return "limit must be a number from 1 to 500";
	return route->read(arguments);
}

/* Takes the arguments. */
static json_t *
message_of(const struct rest_route *route, json_t *arguments)
{
	json_t *meta =
	    json_pack("{s:s, s:{}}", META_VERSION, revision_modern()->version, META_CAPABILITIES);
	bool tool = is_tool(route);
	json_t *params =
	    tool ? json_pack("{s:s, s:o}", "name", route->call, "arguments", arguments) : arguments;

	json_object_set_new(params, "_meta", meta);
	return json_pack("{s:s, s:i, s:s, s:o}", "jsonrpc", "2.0", "id", 1, "method",
	    tool ? "tools/call" : route->call, "params", params);
}

/* Replies before the call has ended, unless it is refused at once. */
static void
begin_job(struct http_request *r, json_t *message, const struct operation *operation)
{
	unsigned status = MHD_HTTP_OK;
	char id[JOB_ID];
	struct err e;
	json_t *refusal = job_begin(r, tenant_of(r), message, operation, id, &e);

	if (e.code != ERR_none)
		guard_refuse(r, status_of(err_name(e.code)), NULL, "%s", e.text);
	else if (refusal == NULL)
		guard_reply_json(r, MHD_HTTP_OK,
		    json_pack("{s:s, s:s}", "job_id", id, "status", "queued"), NULL);
	else
		guard_reply_json(r, status, answer_of(r, refusal, &status), NULL);
	json_decref(refusal);
}

static void
ask_now(struct http_request *r, json_t *message, const struct operation *operation)
{
	struct exchange *x = exchange_open(r, NULL, operation);

	if (x == NULL) {
		guard_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "out of memory");
		return;
	}
	exchange_shows(x, show);
	dispatch_message(exchange_client(x), x, message, r->size);
}

/* Takes the arguments. */
static void
ask(struct http_request *r, json_t *arguments)
{
	json_t *message = message_of(r->route->rest, arguments);
	struct operation operation = mcp_operation(message);

	if (guard_permits(r, message))
		((r->route->rest->from & LATER) != 0 ? begin_job : ask_now)(r, message, &operation);
	json_decref(message);
}

static void
serve(struct http_request *r, json_t *body)
{
	json_t *arguments = body == NULL ? json_object() : json_copy(body);
	const char *wrong = json_is_object(arguments) ? add_arguments(r, arguments)
	                                              : "the body must be a JSON object";

	if (wrong == NULL) {
		ask(r, arguments);
		return;
	}
	json_decref(arguments);
	guard_refuse(r, MHD_HTTP_UNPROCESSABLE_CONTENT, NULL, "Input validation error: %s", wrong);
}

static void
answer_here(struct http_request *r)
{
	const struct rest_route *route = r->route->rest;
	json_t *answer;

	if ((route->from & OPEN) == 0 && !guard_allows(r, 1U << scope_run))
		return;
	answer = route->write(r, NULL);
	if (answer != NULL)
		guard_reply_json(r, MHD_HTTP_OK, answer, NULL);
	else
		guard_refuse(r, MHD_HTTP_NOT_FOUND, NULL, "there is none of that id");
}

static void
handle(struct http_request *r)
{
	const struct rest_route *route = r->route->rest;

	if (route->call == NULL)
		answer_here(r);
	else if ((route->from & BODY) != 0)
		mcp_parse(r, serve);
	else
		serve(r, NULL);
}

/* ---- start ---- */

int
rest_open(struct err *e)
{
	if (!options.rest || (strcmp(options.transport, "stdio") != 0 && compat_on() &&
				 compat_system() == ROWS_sandboxmcp))
		return 0;
	return err_set(e, ERR_invalid_argument,
	    "rest: the REST API needs transport=http and toolsets=sandboxmcp");
}

size_t
rest_routes(struct http_route to[REST_ROUTES])
{
	size_t n = 0;

	for (size_t i = 0; options.rest && i < COUNT(routes); i++) {
		const struct rest_route *route = &routes[i];

		to[n++] = (struct http_route){ .method = route->method,
			.path = route->path,
			.open = (route->from & OPEN) != 0,
			.body = (route->from & BODY) != 0,
			.handle = handle,
			.rest = route };
		to[n++] = (struct http_route){ .method = "OPTIONS",
			.path = route->path,
			.open = true,
			.handle = mcp_options,
			.rest = route };
	}
	return n;
}

void
rest_describe(FILE *to)
{
	fputs("| route | tool or method | what it does |\n|---|---|---|\n", to);
	for (size_t i = 0; i < COUNT(routes); i++)
		fprintf(to, "| `%s %s` | %s%s%s | %s |\n", routes[i].method, routes[i].path,
		    routes[i].call != NULL ? "`" : "", routes[i].call != NULL ? routes[i].call : "",
		    routes[i].call != NULL ? "`" : "", routes[i].doc);
}
