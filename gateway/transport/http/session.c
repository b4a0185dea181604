/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - a table by id. */
#include "gateway/transport/http/session.h"

#include "gateway/options.h"
#include "gateway/transport/account.h"
#include "gateway/transport/http/request.h"
#include "gateway/transport/http/state.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <sodium.h>
#include <string.h>

enum {
	BUCKETS = 1024,
	ID_BYTES = 16,
	MAX_STREAMS = 64,  /* resumable ones of a session */
	REPLAY_TOTAL = 64, /* times replay_bytes, for all sessions */
	REPLAY_STEP = 8,   /* fraction freed at once, to avoid work at each event */
};

static struct {
	struct session *buckets[BUCKETS];
	size_t count;
} table;

static struct session **
bucket_of(const char *id)
{
	return &table.buckets[(unsigned)(id[0] * 256 + id[1] * 64 + id[2] * 16 + id[3]) % BUCKETS];
}

/* ---- ending a session ---- */

/* Disconnects the request that reads from it. */
static void
close_stream(struct stream *s)
{
	struct http_request *r = s->request;

	if (r != NULL) {
		s->request = NULL;
		r->stream = NULL;
		r->gone = NULL; /* the caller is the request that ends */
		request_break(r);
	}
	stream_clear(s);
}

static void
free_session(struct session *s)
{
	struct stream *next;

	for (struct stream *each = s->streams; each != NULL; each = next) {
		next = each->next;
		close_stream(each);
		free(each);
	}
	close_stream(&s->general);
	account_release(s->client.account);
	free(s);
}

void
session_leave(struct session *s)
{
	s->used_ms = loop_now_ms();
	if (--s->exchanges == 0 && s->ended)
		free_session(s);
}

void
session_end(struct session *s)
{
	struct session **at = bucket_of(s->id);

	if (s->ended)
		return;
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	table.count--;
	s->client.account->sessions--;
	s->ended = true;
	s->exchanges++; /* keeps the session while its exchanges end */
	client_give_up(&s->client, true);
	client_close(&s->client);
	session_leave(s);
}

static bool
is_idle(const struct session *s)
{
	bool read = s->general.request != NULL;

	for (const struct stream *each = s->streams; each != NULL; each = each->next)
		read |= each->request != NULL;
	return !read && s->exchanges == 0;
}

void
session_sweep(int64_t now_ms)
{
	for (struct session **bucket = table.buckets; bucket < table.buckets + BUCKETS; bucket++) {
		struct session *next;

		for (struct session *s = *bucket; s != NULL; s = next) {
			next = s->next;
			if (now_ms - s->used_ms < (int64_t)options.session_ttl_ms)
				continue;
			if (is_idle(s))
				session_end(s);
			else
				s->used_ms = now_ms;
		}
	}
}

static void
each_session(void (*act)(struct session *))
{
	for (struct session **bucket = table.buckets; bucket < table.buckets + BUCKETS; bucket++) {
		struct session *next;

		for (struct session *s = *bucket; s != NULL; s = next) {
			next = s->next;
			act(s);
		}
	}
}

static void
drain(struct session *s)
{
	bool answers =
	    s->general.tag == 0 && s->exchanges > 0; /* SSE: replies have no other stream */

	client_drain(&s->client);
	if (!answers)
		stream_end(&s->general);
}

void
session_drain(void)
{
	each_session(drain);
}

void
session_end_all(void)
{
	each_session(session_end);
}

size_t
session_count(void)
{
	return table.count;
}

/* ---- creating a session ---- */

/* The longest idle session of this principal, or of those with more sessions. */
static struct session *
idlest(const struct account *account, bool own)
{
	struct session *found = NULL;

	for (struct session **bucket = table.buckets; bucket < table.buckets + BUCKETS; bucket++)
		for (struct session *s = *bucket; s != NULL; s = s->next)
			if ((own ? s->client.account == account
				 : s->client.account->sessions > account->sessions + 1) &&
			    is_idle(s) && (found == NULL || s->used_ms < found->used_ms))
				found = s;
	return found;
}

static int
make_room(const struct account *account, struct err *e)
{
	if (account_room(account->sessions, options.max_http_sessions, table.count) > 0)
		return 0;

	struct session *victim = idlest(account, true);

	if (victim == NULL && table.count >= options.max_http_sessions)
		victim = idlest(account, false);
	if (victim == NULL)
		return err_set(e, ERR_queue_full,
		    "%zu sessions are open, %zu of them yours, which is your share "
		    "(max_http_sessions); end one",
		    table.count, account->sessions);
	session_end(victim);
	return 0;
}

struct session *
session_open(struct account *account, const struct transport *by, struct err *e)
{
	unsigned char random[ID_BYTES];

	if (make_room(account, e) < 0)
		return NULL;

	struct session *s = calloc(1, sizeof *s);

	if (s == NULL) {
		err_sys(e, "make a session");
		return NULL;
	}
	*s = (struct session){ .client = { .by = by, .account = account_share(account) },
		.used_ms = loop_now_ms(),
		.tags = 1,
		.general = { .tag = 1, .account = account } };
	randombytes_buf(random, sizeof random);
	sodium_bin2hex(s->id, sizeof s->id, random, sizeof random);
	s->next = *bucket_of(s->id);
	*bucket_of(s->id) = s;
	table.count++;
	account->sessions++;
	return s;
}

struct session *
session_find(const char *id, const struct account *account, const struct transport *by)
{
	struct session *s = strlen(id) == SESSION_ID - 1 ? *bucket_of(id) : NULL;

	while (s != NULL && sodium_memcmp(s->id, id, SESSION_ID) != 0)
		s = s->next;
	if (s == NULL || s->client.account != account || s->client.by != by)
		return NULL;
	s->used_ms = loop_now_ms();
	return s;
}

/* ---- streams ---- */

struct stream *
session_stream(struct session *s)
{
	struct stream **at = &s->streams, *made = calloc(1, sizeof *made);

	if (made == NULL)
		return NULL;
	made->tag = ++s->tags;
	made->account = s->client.account;
	while (*at != NULL)
		at = &(*at)->next;
	*at = made;
	return made;
}

struct stream *
session_resume(struct session *s, const char *event)
{
	uint64_t tag, number;
	struct stream *found = &s->general;

	if (!stream_parse(event, &tag, &number))
		return NULL;
	if (tag != s->general.tag)
		for (found = s->streams; found != NULL && found->tag != tag;)
			found = found->next;
	if (found == NULL)
		return NULL;

	struct http_request *before = found->request;

	if (before != NULL) { /* its client lost it without notice */
		stream_detach(found);
		before->stream = NULL;
		request_break(before);
	}
	return stream_rewind(found, number) ? found : NULL;
}

/* Frees a stream that has ended and that no client can resume. */
static void
forget_stream(struct stream **at)
{
	struct stream *gone = *at;

	*at = gone->next;
	stream_clear(gone);
	free(gone);
}

/* Frees the oldest sent events, at least `over` bytes. */
static void
forget_sent(struct session *s, size_t over)
{
	struct stream *each = s->streams != NULL ? s->streams : &s->general;

	while (over > 0) {
		size_t kept = each->kept;

		stream_trim(each, kept > over ? kept - over : 0);
		over -= kept - each->kept < over ? kept - each->kept : over;
		if (each == &s->general)
			return;
		each = each->next != NULL ? each->next : &s->general;
	}
}

static size_t
bytes_of(const struct session *s, size_t *streams)
{
	size_t bytes = s->general.bytes;

	*streams = 0;
	for (struct stream *each = s->streams; each != NULL; each = each->next, ++*streams)
		bytes += each->bytes;
	return bytes;
}

/* Applies a session's own bound, oldest events first. */
static void
trim_one(struct session *s)
{
	size_t streams, allowed = options.replay_bytes, kept = bytes_of(s, &streams);

	if (kept > allowed) {
		forget_sent(s, kept - allowed);
		kept = bytes_of(s, &streams);
	}
	for (struct stream **at = &s->streams; *at != NULL;) {
		struct stream *each = *at;

		if (!each->ended || each->request != NULL ||
		    (each->bytes > 0 && streams <= MAX_STREAMS && kept <= allowed)) {
			at = &each->next;
			continue;
		}
		kept -= each->bytes;
		streams--;
		forget_stream(at);
	}
}

/* The principal with the most kept bytes. */
static struct account *
fullest(void)
{
	struct account *found = NULL;

	for (struct session **bucket = table.buckets; bucket < table.buckets + BUCKETS; bucket++)
		for (struct session *s = *bucket; s != NULL; s = s->next)
			if (found == NULL || s->client.account->kept > found->kept)
				found = s->client.account;
	return found;
}

/* Takes an eighth of the principal's events, evenly: each session keeps at most its part of the
 * rest. */
static void
take_from(const struct account *account)
{
	size_t most = (account->kept - account->kept / REPLAY_STEP) / account->sessions;

	for (struct session **bucket = table.buckets; bucket < table.buckets + BUCKETS; bucket++)
		for (struct session *s = *bucket; s != NULL; s = s->next) {
			size_t kept = s->general.kept;

			if (s->client.account != account)
				continue;
			for (struct stream *each = s->streams; each != NULL; each = each->next)
				kept += each->kept;
			if (kept > most)
				forget_sent(s, kept - most);
		}
}

/* Applies the bound of all sessions.  The principal with the most loses some; a principal with
 * less than an equal share never does. */
static void
trim_all(void)
{
	size_t limit = REPLAY_TOTAL * options.replay_bytes, before = SIZE_MAX;

	while (web_counts.kept > limit && web_counts.kept < before && table.count > 0) {
		before = web_counts.kept;
		take_from(fullest());
	}
}

void
session_trim(struct session *s)
{
	trim_one(s);
	trim_all();
}
