/* SPDX-License-Identifier: Apache-2.0 */
/* change.c - a ring of changes, and the requests that wait for the next one. */
#include "executor/kept/change.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/loop.h"

#include <sodium.h>
#include <string.h>

enum {
	FORGET_MS = 150000, /* a gateway that does not ask for so long no longer listens */
	TOGETHER_MS = 10,   /* changes within this time go out in one reply */
	KEPT = 1024,        /* changes */
	AT_ONCE = 256,      /* in a reply; of schema.def */
	MAX_WAITING = 256,  /* waiting requests; each connection should have at most one */
};

struct waiter {
	struct waiter *next;
	struct call *call;
	uint64_t after;
};

static struct {
	struct changed kept[KEPT]; /* number n is at n % KEPT */
	uint64_t epoch, last;
	int64_t asked_ms; /* time of the last request; 0: never */
	struct waiter *waiters;
	size_t nwaiters;
	bool telling; /* a timer is set */
} self;

static void
begin_epoch(void)
{
	randombytes_buf(&self.epoch, sizeof self.epoch);
	self.epoch = (self.epoch >> 1) | 1;
}

void
change_open(void)
{
	begin_epoch();
}

/* ---- telling ---- */

static char *
copy(const char *text)
{
	char *own = text == NULL || text[0] == '\0' ? NULL : strdup(text);

	must(text == NULL || text[0] == '\0' || own != NULL);
	return own;
}

/* Replies with the changes after that number.  A number of another numbering has missed all. */
static void
reply(struct call *call, uint64_t after, bool missed)
{
	uint64_t oldest = self.last > KEPT ? self.last - KEPT : 0;
	struct change_list reply = { .epoch = self.epoch, .missed = missed || after < oldest };

	if (reply.missed)
		after = self.last;
	for (; after < self.last && reply.items.count < AT_ONCE; after++) {
		const struct changed *c = &self.kept[(after + 1) % KEPT];
		struct changed *to = list_add(&reply.items, sizeof *to);

		must(to != NULL);
		*to = (struct changed){ copy(c->principal), copy(c->namespace), c->what,
			copy(c->id), copy(c->path) };
	}
	reply.last = after;
	call_reply(call, &reply);
	message_clear(MSG_change_list, &reply);
}

static struct waiter *
take_first(void)
{
	struct waiter *w = self.waiters;

	if (w != NULL) {
		self.waiters = w->next;
		self.nwaiters--;
	}
	return w;
}

/* Changes of one turn of the loop go out together. */
static void
tell_all(void *none)
{
	(void)none;
	self.telling = false;
	for (struct waiter *w; (w = take_first()) != NULL; free(w))
		reply(w->call, w->after, false);
}

/* Without requests changes are not kept; a gateway that asks later has missed some. */
static bool
is_followed(void)
{
	if (self.asked_ms != 0 && loop_now_ms() - self.asked_ms <= FORGET_MS)
		return true;
	if (self.asked_ms != 0)
		begin_epoch();
	self.asked_ms = 0;
	return false;
}

static void
add(const struct owner *owner, enum subject what, const char *id, const char *path)
{
	struct changed *c;

	if (owner->principal[0] == '\0' || !is_followed())
		return;
	c = &self.kept[++self.last % KEPT];
	message_clear(MSG_changed, c);
	*c = (struct changed){ copy(owner->principal), copy(owner->namespace), (int)what, copy(id),
		copy(path) };
	if (self.waiters == NULL || self.telling)
		return;
	self.telling = true;
	loop_after(TOGETHER_MS, tell_all, NULL);
}

void
change_add(const struct owner *owner, enum subject what, const char *id)
{
	add(owner, what, id, NULL);
}

void
change_close(void)
{
	struct err e;

	err_set(&e, ERR_unavailable, "the executor is ending");
	for (struct waiter *w; (w = take_first()) != NULL; free(w))
		call_fail(w->call, &e);
	for (size_t i = 0; i < KEPT; i++)
		message_clear(MSG_changed, &self.kept[i]);
	self.last = 0;
}

/* ---- waiting ---- */

static void
cancelled(struct call *call, enum err_code why)
{
	struct waiter *w = call->self, **at = &self.waiters;
	struct err e;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	self.nwaiters--;
	free(w);
	err_set(&e, why, "the caller no longer waits for changes");
	call_fail(call, &e);
}

int
change_on_await_changes(struct call *call, void *request, struct err *e)
{
	const struct await_changes *ask = request;

	is_followed();
	self.asked_ms = loop_now_ms();
	if (ask->epoch != self.epoch || ask->after > self.last) {
		reply(call, 0, true);
		return 0;
	}
	if (ask->after < self.last) {
		reply(call, ask->after, false);
		return 0;
	}

	struct waiter *w = self.nwaiters < MAX_WAITING ? calloc(1, sizeof *w) : NULL;

	if (w == NULL)
		return err_set(e, ERR_queue_full,
		    "%zu requests wait for changes already, which is the limit", self.nwaiters);
	*w = (struct waiter){ .next = self.waiters, .call = call, .after = ask->after };
	self.waiters = w;
	self.nwaiters++;
	call->self = w;
	call->on_cancel = cancelled;
	return 0;
}

/* ---- detecting changes ---- */

void
change_of_event(const struct owner *owner, const struct audit_event *event)
{
	switch (event->event) {
	case event_session_created:
	case event_session_resumed:
	case event_session_killed:
	case event_session_expired:
		add(owner, subject_session, event->session_id, NULL);
		add(owner, subject_list, NULL, NULL);
		break;
	case event_execution_completed:
	case event_execution_failed:
	case event_execution_timeout:
	case event_execution_cancelled:
		add(owner, subject_execution, event->execution_id, NULL);
		break;
	default:
		break;
	}
}

static const void *
field(enum msg_id id, const void *msg, const char *name, enum kind kind)
{
	const struct message *m = &messages[id];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (f->kind == kind && strcmp(f->name, name) == 0)
			return (const char *)msg + f->offset;
	return NULL;
}

static const char *
text(enum msg_id id, const void *msg, const char *name)
{
	const void *slot = field(id, msg, name, KIND_TEXT);

	return slot == NULL ? NULL : *(char *const *)slot;
}

/* Adds the files that the reply lists or names; if it names none, a change of any file. */
static void
add_files(const struct call *call, enum msg_id id, const void *reply, const char *session)
{
	const struct list *list = field(id, reply, "artifacts", KIND_LIST);
	const char *path = text(id, reply, "path");

	for (size_t i = 0; list != NULL && i < list->count; i++)
		add(&call->owner, subject_file, session,
		    ((const struct artifact *)list->items)[i].filename);
	if (path != NULL)
		add(&call->owner, subject_file, session, path);
	if (list == NULL && path == NULL)
		add(&call->owner, subject_files, session, NULL);
}

void
change_of_reply(const struct call *call, const void *reply)
{
	enum msg_id id = messages[call->message].reply;
	const char *session = text(id, reply, "session_id");
	const char *snapshot = text(id, reply, "snapshot_id");

	if (messages[call->message].title == NULL ||
	    (messages[call->message].hints & READ_ONLY) != 0 || !is_followed())
		return;
	if (snapshot != NULL)
		add(&call->owner, subject_snapshot, snapshot, NULL);
	if (id == MSG_snapshot || id == MSG_snapshot_gone)
		add(&call->owner, subject_list, NULL, NULL);
	if (session == NULL)
		return;
	add(&call->owner, subject_session, session, NULL);
	add_files(call, id, reply, session);
}
