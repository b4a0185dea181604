/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resume.c - makes sessions again from descriptors that the starter of this daemon keeps.
 *
 * Theory of operation.  The starter keeps three descriptors by name: the mount namespace of all
 * workspaces, the lock on the uids that own them, and the table of sessions.  They are stored once,
 * while all are empty, and are used only together.  So a kill at any moment leaves no files without
 * an owner and no owner without files: a workspace without a record is wiped at the next start, and
 * a record without its workspace ends its session.  If no process keeps them, sessions end with
 * this process.
 *
 * Trusts the starter to return the descriptors unchanged, and the builder to adopt only workspaces
 * that a builder made.
 */
#include "executor/session/resume.h"

#include "executor/sandbox/box.h"
#include "executor/sandbox/builder.h"
#include "executor/sandbox/workspace.h"
#include "executor/session/record.h"
#include "executor/session/session.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/daemon/starter.h"

/* The workspace table is stored last: if it exists, the other two do. */
static const char *const names[] = { "sessions", "slot", "workspace_table" };

enum {
	SESSIONS,
	SLOT,
	WORKSPACE_TABLE,
};

static struct {
	int fds[COUNT(names)];
	bool had, goes_on, keeps;
} resume = { .fds = { -1, -1, -1 } };

static void
close_all(void)
{
	for (size_t i = 0; i < COUNT(resume.fds); i++)
		if (resume.fds[i] >= 0)
			close(take_fd(&resume.fds[i]));
}

void
resume_open(void)
{
	struct err e;
	bool all = true;

	for (size_t i = 0; i < COUNT(names); i++) {
		resume.fds[i] = starter_kept(names[i]);
		resume.had |= resume.fds[i] >= 0;
		all &= resume.fds[i] >= 0;
	}
	if (resume.had && !all)
		log_warn("some descriptors of the previous process were not kept");
	if (!all || record_take(resume.fds[SESSIONS], &e) < 0) {
		if (all)
			log_warn("the sessions of the previous process are lost", LOG_E(&e));
		close_all();
	}

	int kept[BUILDER_KEPT] = { take_fd(&resume.fds[WORKSPACE_TABLE]),
		take_fd(&resume.fds[SLOT]) };

	builder_give(kept);
}

int
resume_prepare(struct err *e)
{
	int kept[BUILDER_KEPT];

	resume.goes_on = builder_leave(kept);
	resume.fds[WORKSPACE_TABLE] = kept[0];
	resume.fds[SLOT] = kept[1];
	if (resume.fds[SESSIONS] >= 0 || !starter_keeps())
		return 0;
	resume.fds[SESSIONS] = record_make(e);
	return resume.fds[SESSIONS] < 0 ? -1 : 0;
}

/* The state of an earlier process is unusable: stores new descriptors. */
static int
keep_anew(struct err *e)
{
	for (size_t i = 0; resume.had && i < COUNT(names); i++)
		if (starter_drop(names[i], e) < 0)
			return -1;
	for (size_t i = 0; i < COUNT(names); i++)
		if (starter_keep(names[i], resume.fds[i], e) < 0)
			return -1;
	return 0;
}

static void
lose(struct record *r)
{
	struct event_owner owner = { &r->owner, r->namespace[0] != 0 ? r->namespace : NULL };

	event_note(&owner,
	    (struct audit_event){ .event = event_session_killed,
		.session_id = r->id,
		.detail = (char *)(uintptr_t) "the session's files were lost in a restart" });
	record_free(r);
}

void
resume_start(void)
{
	struct err why;
	bool whole = resume.fds[WORKSPACE_TABLE] >= 0 && resume.fds[SESSIONS] >= 0;

	resume.keeps = starter_keeps() && whole && (resume.goes_on || keep_anew(&why) == 0);
	if (starter_keeps() && whole && !resume.keeps)
		log_warn("sessions will not survive a restart of this process", LOG_E(&why));
	for (struct record *r = NULL; (r = record_next(r)) != NULL;)
		if (!resume.goes_on || session_resume(r, &why) < 0)
			lose(r);
	if (resume.goes_on)
		workspace_clear();
	close_all();
}

bool
resume_keeps(void)
{
	return resume.keeps;
}
