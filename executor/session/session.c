/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - the table of sessions.
 *
 * Theory of operation.  A session has a room, which is a workspace with a reference count: one for
 * the session itself, and one for each operation whose ready() was called.  A restore gives the
 * session another room while readers still have the old one, and the last of them drops it.
 *
 * session_end() removes a session from the table, so that no new operation enters, and calls stop()
 * of those in it.  When the last has left, the workspace is dropped, waiting calls are answered,
 * and the session is freed.  An operation may leave from within its own stop(), hence the pins.
 *
 * A session also has a record, from when its workspace exists until it ends.  The record is freed
 * before the workspace is dropped, and names the new workspace before the old one is dropped.
 */
#include "executor/session/session.h"

#include "executor/options.h"
#include "executor/run/own_limits.h"
#include "executor/run/pool.h"
#include "executor/run/queue.h"
#include "executor/sandbox/workspace.h"
#include "executor/session/session_record.h"
#include "executor/session/workspace_ref.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/rights/rights.h"

#include <inttypes.h>
#include <string.h>

enum {
	SWEEP_MS = 1000,
};

static struct {
	struct session *first;
	size_t count;
	uint64_t timer;
} table;

size_t
session_count(void)
{
	return table.count;
}

/* ---- programs ---- */

static void
leave_room(void *room)
{
	workspace_ref_put(room);
}

/* Ends the programs; their workspace is kept until they have ended. */
static void
leave_sandbox(struct session *session)
{
	if (session->sandbox != NULL)
		sandbox_end(
		    take_ptr(session->sandbox), leave_room, take_ptr(session->sandbox_room));
}

/* Without memory the programs lack their packages, as they say themselves. */
static void
show_packages(const struct session *session)
{
	struct err e;

	if (session->packages != NULL &&
	    sandbox_mount(session->sandbox, package_set_mounts(session->packages), NULL, NULL, &e) <
		0)
		log_error("a session lacks its packages", LOG_E(&e));
}

int
session_show(struct session_use *use, struct package_set *set,
    void (*done)(void *self, const struct err *e), void *self, struct err *e)
{
	struct session *session = use->session;
	struct package_set *old = session->packages;

	session->packages = package_set_get(set);
	if (session->record != NULL)
		session->record->packages = true;
	if (session->sandbox == NULL) {
		package_set_put(old);
		done(self, NULL);
		return 0;
	}

	int r = sandbox_mount(session->sandbox, package_set_mounts(set), done, self, e);

	package_set_put(old);
	return r;
}

/* Takes the sandbox, which uses the workspace of that room. */
static void
enter_sandbox(struct session *session, struct sandbox *sandbox, struct workspace_ref *room)
{
	session->sandbox = sandbox;
	session->sandbox_room = workspace_ref_get(room);
	sandbox_set_bridges(sandbox, &session->bridges);
	show_packages(session);
}

struct sandbox *
session_sandbox(const struct session_use *use, bool fresh)
{
	struct session *session = use->session;

	if (fresh && session->ran)
		leave_sandbox(session);
	session->ran = true;
	if (session->sandbox == NULL) {
		struct sandbox *sandbox =
		    sandbox_new(SANDBOX_SESSION, use->room->workspace, &session->limits.box);

		if (sandbox == NULL)
			return NULL;
		enter_sandbox(session, sandbox, use->room);
	}
	if (session->record != NULL)
		session->record->lived = true;
	return session->sandbox;
}

const char *
session_news(struct session *session)
{
	return take_ptr(session->news);
}

/* ---- the end of a session ---- */

static void
free_session(struct session *session)
{
	bridge_clear(&session->bridges);
	known_clear(&session->known);
	workspace_ref_put(session->room);
	package_set_put(session->packages);
	share_drop(&session->shares[SHARE_WORKSPACES]);
	share_drop(&session->shares[SHARE_MEMORY]);
	free(session->namespace);
	free(session->name);
	free(session->profile);
	free(session->domains);
	free(session->parent);
	free(session);
}

static void settle(struct session *);

static void
sandbox_gone(void *self)
{
	struct session *session = self;

	session->pins--;
	workspace_ref_put(take_ptr(session->sandbox_room));
	settle(session);
}

static void
let_go(struct session *session)
{
	if (session->sandbox != NULL) {
		session->pins++;
		sandbox_end(take_ptr(session->sandbox), sandbox_gone, session);
		return;
	}

	void (*gone)(void *) = session->gone;
	void *waiter = session->waiter;

	free_session(session);
	if (gone != NULL)
		gone(waiter);
}

/* Frees the session when nothing of it is left.  The builder gets the order to kill before any
 * order to make a box, so runs that wait for memory are started last. */
static void
settle(struct session *session)
{
	if (!session->ended || session->uses != NULL || session->making || session->pins > 0)
		return;
	if (session->room != NULL)
		share_drop(&session->room->share);
	share_drop(&session->shares[SHARE_MEMORY]);
	let_go(session);
	queue_pump();
}

/* Removes it from the table and stops its operations. */
static void
close_down(struct session *session, enum event event, const char *detail)
{
	struct session **at = &table.first;
	struct event_owner owner = session_owner(session);

	while (*at != session)
		at = &(*at)->next;
	*at = session->next;
	table.count--;
	session->ended = true;
	record_free(take_ptr(session->record));
	event_note(&owner, (struct audit_event){ .event = (int)event,
			       .session_id = session->id,
			       .detail = (char *)(uintptr_t)detail });
	session->pins++;
	for (struct session_use *use = session->uses; use != NULL;) {
		if (use->told || use->stop == NULL) {
			use = use->next;
			continue;
		}
		use->told = true;
		use->stop(use->self);
		use = session->uses; /* the list may have changed */
	}
	session->pins--;
}

void
session_end(struct session *session, enum event event, const char *detail)
{
	close_down(session, event, detail);
	settle(session);
}

static void
sweep(void *self)
{
	int64_t now = loop_now_ms();

	(void)self;
	for (struct session *session = table.first, *next; session != NULL; session = next) {
		next = session->next;
		if (session->uses == NULL && !session->making && session->expires_ms <= now)
			session_end(session, event_session_expired, "idle for its ttl");
	}
	table.timer = table.first != NULL ? loop_after(SWEEP_MS, sweep, NULL) : 0;
}

void
session_end_all(void)
{
	loop_unset(table.timer);
	table.timer = 0;
	while (table.first != NULL)
		session_end(table.first, event_session_killed, "the server is shutting down");
}

/* ---- the beginning ---- */

static void
workspace_made(void *self, struct workspace *workspace, const struct err *e)
{
	struct session *session = self;
	struct err why = { 0 };

	session->making = false;
	session->pins++;
	if (workspace == NULL)
		why = *e;
	else if (session->ended)
		workspace_drop(workspace);
	else if ((session->room =
			 workspace_ref_new(workspace, &session->shares[SHARE_WORKSPACES])) == NULL)
		err_set(&why, ERR_internal, "out of memory");
	else
		session_record_write(session, workspace_id(workspace));
	if (session->ended && why.code == ERR_none)
		err_set(&why, ERR_session_expired, "session_id: %s has ended", session->id);
	if (session->room == NULL && !session->ended)
		close_down(
		    session, event_session_killed, "the session's workspace could not be created");
	for (struct session_use *use = session->uses; use != NULL;) {
		if (!use->waiting) {
			use = use->next;
			continue;
		}
		use->waiting = false;
		if (session->room != NULL)
			use->room = workspace_ref_get(session->room);
		use->ready(use->self, use->room != NULL ? use->room->workspace : NULL,
		    use->room != NULL ? NULL : &why);
		use = session->uses; /* the list may have changed */
	}
	session->pins--;
	settle(session);
}

static bool
is_principals(const struct session *session, const struct call *call)
{
	return strcmp(session->owner.principal, call->owner.principal) == 0;
}

/* Ends the caller's own least recently used session; no session is ended for another principal. */
static bool
evict(const struct call *call)
{
	struct session *oldest = NULL;
	int64_t oldest_ms = INT64_MAX;

	for (struct session *s = table.first; s != NULL; s = s->next) {
		int64_t used_ms = s->expires_ms - (int64_t)s->ttl_ms;

		if (!session_is_of(s, call) || s->uses != NULL || s->making || used_ms >= oldest_ms)
			continue;
		oldest = s;
		oldest_ms = used_ms;
	}
	if (oldest != NULL)
		session_end(oldest, event_session_expired, "ended to make room for a new session");
	return oldest != NULL;
}

static int
count_check(const struct call *call, struct err *e)
{
	const struct rights *rights = rights_of(&call->owner);
	uint64_t mine = 0, most = options.max_sessions_each;

	if (rights != NULL)
		most = rights_number(rights, &rights->sessions, most);
	if (call->owner.principal[0] == 0)
		return err_set(
		    e, ERR_unauthenticated, "only an authenticated caller can have sessions");
	for (struct session *s = table.first; s != NULL; s = s->next)
		mine += is_principals(s, call);
	if (options.session_evict && (mine >= most || table.count >= options.max_sessions) &&
	    evict(call))
		return 0;
	if (mine >= most)
		return err_set(e, ERR_session_limit,
		    "you have %" PRIu64 " sessions, the limit is %" PRIu64, mine, most);
	if (table.count >= options.max_sessions)
		return err_set(e, ERR_session_limit,
		    "this server has %zu sessions, the limit is %" PRIu64, table.count,
		    options.max_sessions);
	return 0;
}

/* With session_evict, ends as many of the caller's old sessions as necessary. */
static int
take_shares(struct share shares[SHARES], const struct call *call, const struct limits *limits,
    struct err *e)
{
	while (share_take_session(shares, call->owner.principal, limits, e) < 0)
		if (!options.session_evict || e->code != ERR_session_limit || !evict(call))
			return -1;
	return 0;
}

static char *
copy_or_null(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

static void
enlist(struct session *session)
{
	session->next = table.first;
	table.first = session;
	table.count++;
	if (table.timer == 0)
		table.timer = loop_after(SWEEP_MS, sweep, NULL);
	session->making = true;
}

/* true: the session uses a ready workspace and program of the pool. */
static bool
move_in(struct session *session)
{
	const char *profile = session->profile != NULL ? session->profile : options.profile;
	uint32_t zygote = pool_zygote(session->language, profile, session->limits.box.environment);
	struct workspace *workspace;
	struct sandbox *sandbox;

	if (!pool_take(
		SANDBOX_SESSION, session->language, zygote, &session->limits, &workspace, &sandbox))
		return false;
	session->room = workspace_ref_new(workspace, &session->shares[SHARE_WORKSPACES]);
	must(session->room != NULL);
	enter_sandbox(session, sandbox, session->room);
	session->making = false;
	session_record_write(session, workspace_id(workspace));
	return true;
}

struct session *
session_new(const struct call *call, const struct session_wish *wish, struct err *e)
{
	struct share shares[SHARES] = { 0 };
	struct session *session;

	if (count_check(call, e) < 0 || take_shares(shares, call, &wish->limits, e) < 0)
		return NULL;
	session = calloc(1, sizeof *session);
	must(session != NULL);
	memcpy(session->shares, shares, sizeof shares);
	session_id_make(&call->owner, session->id);
	session->owner = call->owner;
	session->namespace = copy_or_null(wish->namespace);
	session->name = copy_or_null(wish->name);
	session->profile = copy_or_null(wish->profile);
	session->domains = copy_or_null(wish->domains);
	session->language = wish->language;
	session->typed = wish->typed;
	session->limits = wish->limits;
	session->main = wish->main;
	session->ttl_ms = wish->ttl_s * 1000;

	struct event_owner owner = session_owner(session);
	struct audit_event created = { .event = event_session_created, .session_id = session->id };

	if (event_record(&owner, created, e) < 0) {
		free_session(session);
		return NULL;
	}
	session->expires_ms = loop_now_ms() + (int64_t)session->ttl_ms;
	enlist(session);
	if (!move_in(session))
		workspace_make(&session->limits.room, workspace_made, session);
	return session;
}

int
session_resume(struct record *r, struct err *e)
{
	struct session *session = session_record_read(r, e);

	if (session == NULL)
		return -1;

	struct event_owner owner = session_owner(session);

	event_note(&owner,
	    (struct audit_event){ .event = event_session_resumed, .session_id = session->id });
	enlist(session);
	share_keep_session(session->shares, session->owner.principal, &session->limits);
	workspace_adopt(r->workspace, &session->limits.room, workspace_made, session);
	return 0;
}

/* ---- working in one ---- */

static const char *
in_the_way(const struct session *session, enum session_way way)
{
	/* For each way, the ways that it excludes. */
	static const unsigned refuses[] = {
		[SESSION_READ] = 0,
		[SESSION_WRITE] = 1u << SESSION_HOLD,
		[SESSION_RUN] = 1u << SESSION_RUN | 1u << SESSION_HOLD,
		[SESSION_HOLD] = 1u << SESSION_WRITE | 1u << SESSION_RUN | 1u << SESSION_HOLD,
	};
	static const char *const names[] = {
		[SESSION_READ] = "a read",
		[SESSION_WRITE] = "an upload",
		[SESSION_RUN] = "a program",
		[SESSION_HOLD] = "a snapshot",
	};

	for (const struct session_use *use = session->uses; use != NULL; use = use->next)
		if ((refuses[way] & 1u << use->way) != 0)
			return names[use->way];
	return NULL;
}

static void
note_use(struct session *session)
{
	if (session->record != NULL)
		session->record->expires_ms = session->uses != NULL ? 0 : session->expires_ms;
}

int
session_enter(struct session *session, enum session_way way, struct session_use *use, struct err *e)
{
	const char *other = in_the_way(session, way);

	if (other != NULL)
		return err_set(
		    e, ERR_session_busy, "session %s is busy with %s", session->id, other);
	use->session = session;
	use->way = way;
	use->room = NULL;
	use->waiting = use->told = false;
	use->next = session->uses;
	session->uses = use;
	note_use(session);
	return 0;
}

void
session_wait(struct session_use *use)
{
	struct session *session = use->session;

	if (session->making) {
		use->waiting = true;
		return;
	}
	if (session->room != NULL) {
		use->room = workspace_ref_get(session->room);
		use->ready(use->self, use->room->workspace, NULL);
		return;
	}

	struct err e;

	err_set(&e, ERR_unavailable, "session %s could not be created", session->id);
	use->ready(use->self, NULL, &e);
}

void
session_leave(struct session_use *use)
{
	struct session *session = use->session;

	if (session == NULL)
		return;

	struct session_use **at = &session->uses;

	while (*at != use)
		at = &(*at)->next;
	*at = use->next;
	workspace_ref_put(use->room);
	use->room = NULL;
	use->session = NULL;
	session->expires_ms = loop_now_ms() + (int64_t)session->ttl_ms;
	note_use(session);
	settle(session);
}

void
session_swap(struct session_use *use, struct workspace *fresh, struct share *share)
{
	struct session *session = use->session;
	struct workspace_ref *room = workspace_ref_new(fresh, share);

	must(use->way == SESSION_HOLD && room != NULL);
	if (session->sandbox != NULL)
		session->news = "The session's files were restored from a snapshot, and its "
				"interpreters were restarted: variables are lost.";
	if (session->record != NULL)
		session->record->workspace = workspace_id(fresh);
	leave_sandbox(session);
	workspace_ref_put(use->room);
	workspace_ref_put(session->room);
	session->room = room;
	use->room = workspace_ref_get(room);
}

void
session_set_parent(struct session *session, const char *snapshot_id)
{
	free(session->parent);
	session->parent = strdup(snapshot_id);
	if (session->record != NULL)
		record_text(session->record->parent, sizeof session->record->parent, snapshot_id);
}

const struct session *
session_first(void)
{
	return table.first;
}

struct event_owner
session_owner(const struct session *session)
{
	return (struct event_owner){ &session->owner, session->namespace };
}
