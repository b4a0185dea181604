/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - checks of a request's head, cheapest first. */
#include "gateway/transport/http/guard.h"

#include "gateway/auth/auth.h"
#include "gateway/auth/challenge.h"
#include "gateway/mcp/dispatch.h"
#include "gateway/mcp/methods.h"
#include "gateway/options.h"
#include "gateway/rpc/jsonrpc.h"
#include "gateway/rpc/write.h"
#include "gateway/transport/account.h"
#include "gateway/transport/http/state.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	KEY_BYTES = 4096, /* a longer key is cut, and so is not valid */
};

/* ---- refusals ---- */

void
guard_reply_json(
    struct http_request *r, unsigned status, json_t *message, const struct header *headers)
{
	size_t size = 0;
	char *text = message == NULL ? NULL : write_whole(message, SIZE_MAX, &size);

	json_decref(message);
	request_reply(r, status, "application/json", text, size, headers);
}

/* The REST API has an error of its own form, also for a path that is none. */
static json_t *
refusal(const struct http_request *r, const char *text)
{
	bool rest = r->route != NULL ? r->route->rest != NULL : options.rest;

	return rest ? json_pack("{s:s}", "detail", text)
	            : jsonrpc_error(NULL, RPC_INVALID, "%s", text);
}

void
guard_refuse(
    struct http_request *r, unsigned status, const struct header *headers, const char *fmt, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, fmt);
	vsnprintf(text, sizeof text, fmt, arguments);
	va_end(arguments);
	log_debug("refused", LOG_N("status", status), LOG_S("why", text),
	    LOG_S("address", request_address(r)));
	guard_reply_json(r, status, refusal(r, text), headers);
}

void
guard_too_large(struct http_request *r)
{
	guard_refuse(r, MHD_HTTP_CONTENT_TOO_LARGE, NULL,
	    "the body is over the limit of %zu bytes (max_message_bytes); send less, or split it",
	    (size_t)options.max_message_bytes);
}

void
guard_busy(struct http_request *r)
{
	guard_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
	    (struct header[]){ { "Retry-After", "2" }, { 0 } },
	    "request bodies use %zu of %zu bytes (max_bodies_bytes), yours %zu; try again",
	    web_counts.bodies, (size_t)options.max_bodies_bytes, r->account->bodies);
}

/* ---- message framing ---- */

struct head {
	int lengths, codings, hosts;
	const char *coding;
	const char *end; /* of the previous value, in the library's buffer */
	bool odd;        /* not a valid name or value; some parsers trim a blank after a name */
};

static bool
is_token(const char *name)
{
	while (isalnum((unsigned char)*name) ||
	       (*name != '\0' && strchr("!#$%&'*+-.^_`|~", *name) != NULL))
		name++;
	return *name == '\0';
}

static bool
has_control(const char *value)
{
	while ((unsigned char)*value >= ' ' || *value == '\t')
		value++;
	return *value != '\0';
}

/*
 * Whether a value was cut.  libmicrohttpd 0.9.75 measures a value by strlen(), also for
 * MHD_get_connection_values_n(): it reads "41\0" "9" as 41.  It parses in place and overwrites
 * each line's end with zero bytes.  So more than the two bytes of a line's end between a value and
 * what follows mean that the client sent a zero byte, or continued the value on the next line,
 * which RFC 9112 (5.2) refuses as well.
 */
static bool
is_cut(const char *end, const char *next, ptrdiff_t most)
{
	return next <= end || next - end > most;
}

static enum MHD_Result
look_at(void *self, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct head *head = self;

	(void)kind;
	head->odd |= !is_token(name) || is_cut(head->end, name, 2);
	head->odd |= value != NULL && has_control(value);
	head->end = value != NULL ? value + strlen(value) : name + strlen(name);
	head->lengths += strcasecmp(name, "Content-Length") == 0;
	head->hosts += strcasecmp(name, "Host") == 0;
	if (strcasecmp(name, "Transfer-Encoding") == 0) {
		head->codings++;
		head->coding = value;
	}
	return MHD_YES;
}

/* RFC 9112, 3.2, 5.1, 6.1 and 6.3: NULL, or why another server could read the request
 * differently. */
static const char *
ambiguity(const struct head *head, bool old)
{
	return head->odd           ? "a header is malformed"
	       : head->lengths > 1 ? "Content-Length is repeated"
	       : head->lengths > 0 && head->codings > 0
	           ? "Content-Length and Transfer-Encoding must not both be present"
	       : head->codings > 0 && old ? "HTTP/1.0 has no Transfer-Encoding"
	       : head->hosts > 1          ? "Host is repeated"
	       : head->hosts == 0 && !old ? "Host is missing"
	                                  : NULL;
}

bool
guard_frames(struct http_request *r, const char *method, const char *version)
{
	static const struct header closing[] = { { "Connection", "close" }, { 0 } };
	const union MHD_ConnectionInfo *size =
	    MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	struct head head = { .end = version + strlen(version) };

	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, look_at, &head);
	/* The buffer begins with the method and ends with the empty line. */
	head.odd |= size == NULL || is_cut(head.end, method + size->header_size, 4);

	const char *wrong = ambiguity(&head, strcmp(version, "HTTP/1.0") == 0);

	if (wrong != NULL)
		guard_refuse(r, MHD_HTTP_BAD_REQUEST, closing, "%s", wrong);
	else if (head.codings > 1 || (head.codings == 1 && strcasecmp(head.coding, "chunked") != 0))
		guard_refuse(
		    r, MHD_HTTP_NOT_IMPLEMENTED, closing, "Transfer-Encoding must be chunked");
	return !r->replied;
}

/* ---- Host and Origin ---- */

/* Whether the name is an element of a list joined by commas. */
static bool
listed(const char *list, const char *name, size_t size)
{
	for (const char *at = list; *at != '\0'; at += *at == ',') {
		size_t n = strcspn(at, ",");

		if ((n == 1 && *at == '*') || (n == size && strncasecmp(at, name, n) == 0))
			return true;
		at += n;
	}
	return false;
}

/* The length of a host without its port; 0: malformed. */
static size_t
host_size(const char *host)
{
	size_t n = *host == '[' ? strcspn(host, "]") : strcspn(host, ":");

	n += host[n] == ']';

	size_t digits = host[n] == ':' ? strspn(host + n + 1, "0123456789") + 1 : 0;

	return (*host == '[' && host[n - 1] != ']') || host[n + digits] != '\0' ? 0 : n;
}

static bool
is_local(const char *host, size_t size)
{
	return listed("localhost,127.0.0.1,[::1]", host, size);
}

static bool
good_host(const char *host)
{
	size_t n = host == NULL ? 0 : host_size(host);
	size_t own = (size_t)(strrchr(options.listen, ':') - options.listen);

	return n > 0 &&
	       (is_local(host, n) || (n == own && strncasecmp(host, options.listen, n) == 0) ||
		   listed(options.allowed_hosts, host, n));
}

static bool
good_origin(const char *origin)
{
	size_t scheme = strncmp(origin, "http://", 7) == 0    ? 7
	                : strncmp(origin, "https://", 8) == 0 ? 8
	                                                      : 0;
	size_t n = scheme == 0 ? 0 : host_size(origin + scheme);

	return listed(options.allowed_origins, origin, strlen(origin)) ||
	       (n > 0 && is_local(origin + scheme, n));
}

/* true: it has replied.  The functions below return the same. */
static bool
from_elsewhere(struct http_request *r)
{
	const char *host = request_header(r, "Host"), *origin = request_header(r, "Origin");

	if (!good_host(host)) {
		guard_refuse(r, MHD_HTTP_MISDIRECTED_REQUEST, NULL,
		    "the Host header names an unknown host; the operator can add hosts with "
		    "allowed_hosts");
		return true;
	}
	if (origin != NULL && (!good_origin(origin) || request_repeats(r, "Origin"))) {
		guard_refuse(r, MHD_HTTP_FORBIDDEN, NULL,
		    "this Origin is not allowed; the operator can add origins with "
		    "allowed_origins");
		return true;
	}
	r->origin = origin;
	return false;
}

/* ---- credentials and rates ---- */

/* Replies to an unauthenticated or denied client. */
static void
deny(struct http_request *r, const struct err *e, unsigned needed)
{
	char challenge[CHALLENGE_TEXT], seconds[24];

	challenge_text(e, needed, challenge);
	snprintf(seconds, sizeof seconds, "%d", (e->retry_ms + 999) / 1000);
	guard_refuse(r, (unsigned)challenge_status(e),
	    *challenge != '\0' ? (struct header[]){ { "WWW-Authenticate", challenge }, { 0 } }
	    : e->retry_ms > 0  ? (struct header[]){ { "Retry-After", seconds }, { 0 } }
			       : NULL,
	    "%s", e->text);
}

/* Clients of the REST API send the token as a key. */
static const char *
credentials_of(const struct http_request *r, char text[KEY_BYTES])
{
	const char *given = request_header(r, "Authorization");
	const char *key = r->route->rest == NULL ? NULL : request_header(r, "X-API-Key");

	if (given != NULL || key == NULL)
		return given;
	snprintf(text, KEY_BYTES, "Bearer %s", key);
	return text;
}

static bool
unknown(struct http_request *r)
{
	struct err e;
	const struct identity *who = &r->identity;

	char key[KEY_BYTES];

	if (request_repeats(r, "Authorization") || request_repeats(r, "X-API-Key")) {
		guard_refuse(r, MHD_HTTP_BAD_REQUEST, NULL, "Authorization is repeated");
		return true;
	}
	if (auth_check(credentials_of(r, key), request_address(r), &r->identity, &e) < 0) {
		deny(r, &e, 0);
		return true;
	}
	r->account = account_hold(&who->owner);
	if (r->account == NULL)
		guard_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "out of memory");
	return r->account == NULL;
}

/* An idle connection takes a slot too.  It counts against the last principal that used it. */
bool
guard_connects(struct http_request *r)
{
	struct http_peer *p = r->peer;

	if (p->account == r->account)
		return true;
	if (account_room(r->account->connections, options.max_connections,
		web_counts.connections - 1) == 0) {
		guard_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		    (struct header[]){ { "Connection", "close" }, { "Retry-After", "5" }, { 0 } },
		    "you have %zu of %llu connections, your share (max_connections); close "
		    "some",
		    r->account->connections, (unsigned long long)web_counts.connections);
		return false;
	}
	if (p->account != NULL)
		p->account->connections--;
	account_release(p->account);
	p->account = account_share(r->account);
	p->account->connections++;
	return true;
}

static unsigned
needed_by(json_t *message)
{
	const char *method = json_string_value(json_object_get(message, "method"));

	return method == NULL ? 0 : methods_scopes(method, json_object_get(message, "params"));
}

bool
guard_allows(struct http_request *r, unsigned needed)
{
	struct err e;

	if (auth_require(&r->identity, needed, &e) == 0)
		return true;
	auth_denied(&r->identity, request_address(r), &e);
	deny(r, &e, needed);
	return false;
}

bool
guard_permits(struct http_request *r, json_t *message)
{
	unsigned needed = needed_by(message);
	json_t *each;
	size_t i = 0;

	json_array_foreach(message, i, each)
	{
		needed |= needed_by(each);
	}
	if (!guard_allows(r, needed))
		return false;
	if (i > 1 && i <= DISPATCH_BATCH)
		account_charge(r->account, i - 1, loop_now_ms());
	return true;
}

static bool
too_fast(struct http_request *r)
{
	char seconds[24];
	int64_t wait_ms = account_wait_ms(r->account, loop_now_ms());

	if (wait_ms == 0)
		return false;
	snprintf(seconds, sizeof seconds, "%lld", (long long)(wait_ms + 999) / 1000);
	guard_refuse(r, MHD_HTTP_TOO_MANY_REQUESTS,
	    (struct header[]){ { "Retry-After", seconds }, { 0 } },
	    "over the limit of %zu requests per second (rate_per_s); wait %s s",
	    (size_t)options.rate_per_s, seconds);
	return true;
}

/* ---- media types ---- */

/* Compares the first of a list, without its parameters: "application/json" of
 * "Application/JSON;q=1, x". */
static bool
is_type(const char *value, size_t size, const char *type)
{
	size_t n = 0;

	while (n < size && strchr("; \t", value[n]) == NULL)
		n++;
	return n == strlen(type) && strncasecmp(value, type, n) == 0;
}

/* What all Accept lines together say about a type (RFC 9110, 12.5.1). */
struct wish {
	const char *type;
	char any[32];
	bool there, good;
	int rank; /* of the best match: type, main type, any */
};

/* Whether it has q=0. */
static bool
is_refused(const char *at, size_t size)
{
	for (const char *end = at + size; at < end; at++)
		if (*at == ';' && strncasecmp(at + 1 + strspn(at + 1, " \t"), "q=", 2) == 0)
			return strtod(strchr(at, '=') + 1, NULL) == 0;
	return false;
}

static enum MHD_Result
read_accept(void *self, enum MHD_ValueKind kind, const char *name, const char *at)
{
	struct wish *w = self;
	size_t n;

	(void)kind;
	if (strcasecmp(name, "Accept") != 0)
		return MHD_YES;
	w->there = true;
	for (; *at != '\0'; at += n, at += strspn(at, ", \t")) {
		n = strcspn(at, ",");

		int rank = is_type(at, n, w->type)  ? 3
		           : is_type(at, n, w->any) ? 2
		                                    : is_type(at, n, "*/*");

		if (rank > w->rank) {
			w->rank = rank;
			w->good = !is_refused(at, n);
		}
	}
	return MHD_YES;
}

bool
guard_accepts(const struct http_request *r, const char *type)
{
	struct wish w = { .type = type };

	snprintf(w.any, sizeof w.any, "%.*s/*", (int)strcspn(type, "/"), type);
	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, read_accept, &w);
	return w.good || !w.there;
}

static bool
bad_body(struct http_request *r)
{
	const char *type = request_header(r, "Content-Type");
	const char *length = request_header(r, "Content-Length");

	if (type == NULL || !is_type(type, strlen(type), "application/json")) {
		guard_refuse(r, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, NULL,
		    "Content-Type must be application/json");
		return true;
	}
	if (length != NULL && strtoull(length, NULL, 10) > options.max_message_bytes) {
		guard_too_large(r);
		return true;
	}
	return false;
}

bool
guard_knows(struct http_request *r)
{
	return !unknown(r) && guard_connects(r) && !too_fast(r);
}

void
guard_request(struct http_request *r)
{
	if (from_elsewhere(r) || r->route->open)
		return;
	if (web_state.draining) {
		guard_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		    (struct header[]){ { "Retry-After", "5" }, { 0 } },
		    "the server is shutting down");
		return;
	}
	if (!guard_knows(r) || !r->route->body)
		return;
	(void)bad_body(r);
}

int
guard_open(struct err *e)
{
	if (web_state.public && auth_anonymous())
		return err_set(e, ERR_denied,
		    "listen: %s is not loopback, so anonymous is not allowed; "
		    "create tokens (cloister token add), or listen on 127.0.0.1",
		    options.listen);
	return auth_open(e);
}
