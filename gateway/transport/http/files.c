/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c - downloads.
 *
 * A link has a seal, which stands for credentials; without it, the caller's own credentials count.
 *
 * A file is fetched from the executor in pieces, one after the other as the client reads, so that
 * memory is bounded by one piece.  Pieces count as unread output; while there is much unread
 * output, pieces are small.
 *
 * A hostile program wrote the content.  It is served as an attachment, with a type that no browser
 * sniffs, and with a policy that lets it do nothing if a browser opens it anyway.
 */
#include "gateway/transport/http/files.h"

#include "gateway/auth/auth.h"
#include "gateway/compat/compat.h"
#include "gateway/compat/convert.h"
#include "gateway/mcp/arguments.h"
#include "gateway/mcp/links.h"
#include "gateway/mcp/resource/uri.h"
#include "gateway/options.h"
#include "gateway/transport/account.h"
#include "gateway/transport/http/guard.h"
#include "gateway/transport/http/state.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/bus/bus.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	PIECE_BYTES = 262144,
	SMALL_BYTES = 16384,
	BUFFER_BYTES = 32768, /* of libmicrohttpd, for each download */
	PIECE_MS = 30000,
};

struct download {
	struct http_request *request; /* NULL: the client disconnected */
	char *session, *path;
	struct account *account; /* the files' owner, charged for unread bytes */
	uint64_t ask;            /* the pending request; 0: none */
	uint64_t at, end;        /* range of the file not requested yet */
	uint64_t total;          /* size of the file */
	struct blob piece;       /* used bytes of it were sent */
	size_t used, held;       /* held: bytes counted, from the request on */
	bool begun;
};

/* ---- ranges ---- */

struct range {
	bool given, suffix;
	uint64_t first, last; /* last UINT64_MAX: end of file; suffix: only the last bytes */
};

/* Reads up to 18 digits, which cannot overflow; false: none, or more. */
static bool
take_number(const char **at, uint64_t *number)
{
	size_t n = strspn(*at, "0123456789");

	if (n == 0 || n > 18)
		return false;
	*number = strtoull(*at, NULL, 10);
	*at += n;
	return true;
}

/* Reads one range of bytes.  Anything else, also several ranges, counts as no range (RFC 9110,
 * 14.2). */
static struct range
read_range(const char *text)
{
	static const char unit[] = "bytes=";
	struct range none = { .last = UINT64_MAX }, r = { .given = true, .last = UINT64_MAX };

	if (text == NULL || strncasecmp(text, unit, sizeof unit - 1) != 0)
		return none;
	text += sizeof unit - 1;
	r.suffix = *text == '-';
	if (!r.suffix && !take_number(&text, &r.first))
		return none;
	if (*text++ != '-')
		return none;
	if ((r.suffix || *text != '\0') && !take_number(&text, &r.last))
		return none;
	return *text != '\0' || (!r.suffix && r.last < r.first) ? none : r;
}

/* A range applies to GET only (RFC 9110, 14.2).  A file's content has no ETag here, so that an
 * If-Range never matches (13.1.5): the file may have been rewritten. */
static struct range
asked_range(const struct http_request *r)
{
	bool none = r->head || request_header(r, "If-Range") != NULL;

	return read_range(none ? NULL : request_header(r, "Range"));
}

/* ---- lifetime ---- */

static void
hold(struct download *d, size_t size)
{
	web_counts.waiting += size - d->held;
	d->account->waiting += size - d->held;
	d->held = size;
}

static void
drop_piece(struct download *d)
{
	blob_clear(&d->piece);
	d->used = 0;
	hold(d, 0);
}

static void
free_download(struct download *d)
{
	free(d->session);
	free(d->path);
	if (d->account != NULL)
		drop_piece(d);
	account_release(d->account);
	free(d);
}

static void
on_gone(struct http_request *r)
{
	struct download *d = r->self;

	d->request = NULL;
	if (d->ask != 0)
		bus_cancel(d->ask); /* on_piece() frees it */
	else
		free_download(d);
}

static int ask_piece(struct download *, size_t size);

/* Leaves half of the limit for unread output to replies. */
static size_t
piece_size(const struct download *d)
{
	return account_room(d->account->waiting, options.max_output_bytes / 2,
		   web_counts.waiting) >= PIECE_BYTES
	           ? PIECE_BYTES
	           : SMALL_BYTES;
}

static ssize_t
read_piece(void *self, uint64_t position, char *to, size_t size)
{
	struct download *d = self;
	size_t left = d->piece.size - d->used, n = left < size ? left : size;

	(void)position;
	if (d->request->broken)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (n > 0) {
		memcpy(to, (char *)d->piece.data + d->used, n);
		d->used += n;
		if (n == left)
			drop_piece(d);
		d->request->peer->since_ms = loop_now_ms();
		return (ssize_t)n;
	}
	if (d->at == d->end)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (d->ask == 0 && ask_piece(d, piece_size(d)) < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	request_wait(d->request);
	return 0;
}

/* ---- the reply's headers ---- */

/* Names are encoded as in RFC 8187; a %XX in a name, which represents a byte, is decoded there
 * too. */
static void
add_name(struct MHD_Response *response, const char *path)
{
	const char *slash = strrchr(path, '/');
	auto_free char *name = uri_escape(slash == NULL ? path : slash + 1, ".-_%");
	auto_free char *value = NULL;

	if (name != NULL && asprintf(&value, "attachment; filename*=UTF-8''%s", name) >= 0)
		MHD_add_response_header(response, "Content-Disposition", value);
	else
		value = NULL;
}

static void
give(struct download *d, unsigned status, const char *type, uint64_t first)
{
	struct MHD_Response *response =
	    MHD_create_response_from_callback(d->end - first, BUFFER_BYTES, read_piece, d, NULL);
	char range[96];

	if (response == NULL) {
		request_break(d->request);
		return;
	}
	MHD_add_response_header(response, "Content-Type", type);
	MHD_add_response_header(response, "Content-Security-Policy", "sandbox; default-src 'none'");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "Cache-Control", "private, no-store");
	MHD_add_response_header(response, "Accept-Ranges", "bytes");
	add_name(response, d->path);
	if (status == MHD_HTTP_PARTIAL_CONTENT) {
		snprintf(range, sizeof range, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, first,
		    d->end - 1, d->total);
		MHD_add_response_header(response, "Content-Range", range);
	}
	request_give(d->request, status, response);
}

static void
refuse_range(struct download *d)
{
	char range[64];

	snprintf(range, sizeof range, "bytes */%" PRIu64, d->total);
	request_say(d->request, MHD_HTTP_RANGE_NOT_SATISFIABLE, "text/plain",
	    "the range is outside the file\n",
	    (struct header[]){ { "Content-Range", range }, { 0 } });
}

/* Runs with the first piece, which has the size of the file. */
static void
begin(struct download *d, const struct artifact_content *first)
{
	struct range r = asked_range(d->request);

	d->begun = true;
	d->total = first->total_size;
	if (r.suffix) {
		r.first = r.last < d->total ? d->total - r.last : 0;
		r.given = r.last > 0 && d->total > 0;
		r.last = UINT64_MAX;
		if (!r.given) {
			refuse_range(d);
			return;
		}
		blob_clear(&d->piece);
		d->at = r.first;
	} else if (r.given && r.first >= d->total) {
		refuse_range(d);
		return;
	}
	d->end = r.last < d->total ? r.last + 1 : d->total;
	if (d->piece.size > d->end - r.first)
		d->piece.size = d->end - r.first;
	d->at = r.first + d->piece.size;
	hold(d, d->piece.size);
	give(d, r.given ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK, first->mime_type, r.first);
}

/* ---- the executor ---- */

static void
fail(struct download *d, const struct err *e)
{
	bool wrong = e->code == ERR_invalid_argument || e->code == ERR_limit_exceeded;
	bool range = wrong && request_header(d->request, "Range") != NULL;
	bool missing = e->code == ERR_not_found || e->code == ERR_session_expired ||
	               e->code == ERR_path_not_allowed || e->code == ERR_denied || wrong;

	if (d->begun) {
		request_break(d->request); /* the promised size cannot be sent any more */
		return;
	}
	guard_refuse(d->request,
	    range     ? MHD_HTTP_RANGE_NOT_SATISFIABLE
	    : missing ? MHD_HTTP_NOT_FOUND
		      : MHD_HTTP_SERVICE_UNAVAILABLE,
	    NULL, "%s", e->text);
}

static void
on_piece(void *self, void *reply, const struct err *e)
{
	struct download *d = self;
	struct artifact_content *content = reply;
	struct err changed;

	d->ask = 0;
	if (d->request == NULL) {
		free_download(d);
		return;
	}
	if (content == NULL) {
		fail(d, e);
		return;
	}
	if (content->content_base64.size > d->held) { /* more than was counted */
		err_set(
		    &changed, ERR_internal, "the executor sent more of the file than requested");
		fail(d, &changed);
		return;
	}
	d->piece = content->content_base64;
	content->content_base64 = (struct blob){ 0 };
	if (!d->begun) {
		begin(d, content);
		return;
	}
	if (content->total_size != d->total || d->piece.size == 0) {
		err_set(&changed, ERR_internal, "the file changed during the download");
		fail(d, &changed);
		return;
	}
	if (d->piece.size > d->end - d->at)
		d->piece.size = d->end - d->at;
	d->at += d->piece.size;
	hold(d, d->piece.size);
	request_wake(d->request);
}

static int
ask_piece(struct download *d, size_t size)
{
	char instance[64];
	struct sandbox_read_artifact request = {
		.path = d->path, .session_id = d->session, .offset = d->at, .length = size
	};
	bool routed = arguments_instance("sess_", d->session, instance, sizeof instance);
	struct err e;
	struct ask it = { .to = messages[MSG_sandbox_read_artifact].server,
		.instance = routed ? instance : NULL,
		.home = !routed,
		.message = MSG_sandbox_read_artifact,
		.request = &request,
		.owner = &d->account->owner,
		.timeout_ms = PIECE_MS,
		.self = d,
		.done = on_piece };

	d->ask = bus_ask(&it, &e);
	if (d->ask != 0) {
		hold(d, size);
		return 0;
	}
	fail(d, &e);
	return -1;
}

/* ---- requests ---- */

static struct download *
make(const struct http_request *r)
{
	const char *slash = strchr(r->path, '/');
	struct download *d = slash == NULL ? NULL : calloc(1, sizeof *d);
	auto_free char *session = d == NULL ? NULL : strndup(r->path, (size_t)(slash - r->path));

	if (session == NULL) {
		free(d);
		return NULL;
	}
	d->session = compat_on() ? convert_session_id(session) : strdup(session);
	d->path = strdup(slash + 1);
	must(d->session != NULL && d->path != NULL);
	return d;
}

/* A link needs no credentials, but credentials that are sent must belong to the link's owner. */
static int
check_owner(struct http_request *r, const struct owner *owner, struct err *e)
{
	const char *shown = request_header(r, "Authorization");

	if (shown == NULL)
		return 0;
	if (auth_check(shown, request_address(r), &r->identity, e) < 0)
		return -1;
	if (owner_equal(&r->identity.owner, owner))
		return 0;
	return err_set(e, ERR_denied, "this link belongs to another principal");
}

/* Sets the account by the seal of a link.  false: it has replied. */
static bool
opens_link(struct http_request *r, struct download *d, const char *seal)
{
	struct owner owner;
	struct err e = { 0 };

	if (links_check(d->session, d->path, seal, &owner, &e) < 0 ||
	    check_owner(r, &owner, &e) < 0) {
		guard_refuse(r, MHD_HTTP_FORBIDDEN, NULL, "%s", e.text);
		return false;
	}
	d->account = account_hold(&owner);
	must(d->account != NULL);
	r->account = account_share(d->account);
	return guard_connects(r);
}

/* Sets the account by the caller's credentials, as for any other request.  false: it has
 * replied. */
static bool
opens_own(struct http_request *r, struct download *d)
{
	if (!guard_knows(r) || !guard_allows(r, 1U << scope_read))
		return false;
	d->account = account_share(r->account);
	return true;
}

/* Whether the owner may have one more download.  If not, it has replied. */
static bool
has_room(struct http_request *r, const struct account *account)
{
	if (account_room(account->waiting, options.max_output_bytes, web_counts.waiting) >=
	    SMALL_BYTES)
		return true;
	guard_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
	    (struct header[]){ { "Retry-After", "5" }, { 0 } },
	    "you have %zu unread bytes, the limit (max_output_bytes); read them first",
	    account->waiting);
	return false;
}

void
files_get(struct http_request *r)
{
	struct range range = asked_range(r);
	const char *seal = request_query(r, "t");
	struct download *d = make(r);

	if (d == NULL) {
		guard_refuse(r, MHD_HTTP_FORBIDDEN, NULL, "expected /files/<session>/<path>");
		return;
	}
	if (!(seal != NULL ? opens_link(r, d, seal) : opens_own(r, d)) ||
	    !has_room(r, d->account)) {
		free_download(d);
		return;
	}
	d->request = r;
	r->self = d;
	r->gone = on_gone;
	d->at = range.suffix ? 0 : range.first;
	(void)ask_piece(d, range.suffix || r->head ? 1 : piece_size(d));
}
