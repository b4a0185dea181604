/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_queue.c - queues of operations on workspaces, and the start and end of their file helpers.
 *
 * Trusts no file helper: frames are checked on arrival, and an operation has PATIENCE_MS.
 *
 * end() of an operation may add others, or drop the workspace and with it this queue.  So the
 * queue is not accessed after end() was called.
 */
#include "executor/files/file_queue.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"
#include "executor/sandbox/builder_link.h"
#include "executor/sandbox/file_helper.h"
#include "executor/sandbox/workspace.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>

enum {
	PATIENCE_MS = 30000, /* for one operation, or one file of a fill */
	LINGER_MS = 250,     /* a start costs a millisecond, so wait for the next one of a series */
	AT_ONCE = 64,        /* file frames read before other events are handled, */
	TURN_US = 200,       /* or fewer: a program decides how long each takes */
};

/* A file helper, from its start to its end.  It may end after its file queue. */
struct visit {
	struct file_queue *file_queue; /* NULL: the file queue no longer uses it */
	struct builder_request *builder_request;
	int channel; /* -1: closed */
	bool full;   /* the channel had no room at the last write */
};

struct file_queue {
	struct file_queue *next;
	struct workspace *workspace;
	struct operation *first, *last;
	bool begun; /* the first operation */
	struct visit *visit;
	uint64_t patience, turn; /* timers */
};

static struct file_queue *file_queues;

/* Error texts for the faults that a file helper reports. */
static const struct {
	enum err_code code;
	const char *text;
} faults[FILE_FRAME_FAULTS] = {
	[FILE_FRAME_ABSENT] = { ERR_not_found, "there is no such file" },
	[FILE_FRAME_IS_LINK] = { ERR_path_not_allowed,
	    "is a symbolic link, or its path contains one" },
	[FILE_FRAME_IS_DIRECTORY] = { ERR_path_not_allowed, "is a directory" },
	[FILE_FRAME_IS_SPECIAL] = { ERR_path_not_allowed, "is a FIFO, socket or device" },
	[FILE_FRAME_NOT_DIRECTORY] = { ERR_path_not_allowed, "part of its path is a file" },
	[FILE_FRAME_EXISTS] = { ERR_file_exists, "the file exists already" },
	[FILE_FRAME_TOO_LARGE] = { ERR_file_too_large, "is too large to read" },
	[FILE_FRAME_TOO_LONG] = { ERR_path_not_allowed, "its path is too long" },
	[FILE_FRAME_NO_ROOM] = { ERR_disk_full,
	    "the workspace has reached its limit of bytes or files" },
	[FILE_FRAME_NO_ACCESS] = { ERR_path_not_allowed, "its permissions deny access" },
	[FILE_FRAME_MISPLACED] = { ERR_invalid_argument, "offset: is not the end of the file" },
	[FILE_FRAME_FAILED] = { ERR_internal, "the file helper of the workspace failed" },
};

const char *
file_queue_fault(enum file_frame_fault fault)
{
	return faults[fault].text;
}

static struct file_queue *
find(const struct workspace *workspace)
{
	struct file_queue *d = file_queues;

	while (d != NULL && d->workspace != workspace)
		d = d->next;
	return d;
}

/* ---- file helpers ---- */

static void
hang_up(struct visit *v)
{
	if (v->channel < 0)
		return;
	loop_forget(v->channel);
	close(take_fd(&v->channel));
}

/* Detaches the file helper: it ends when its channel is closed, or is killed immediately if
 * at_once. */
static void
dismiss_helper(struct file_queue *d, bool at_once)
{
	struct visit *v = take_ptr(d->visit);

	if (v == NULL)
		return;
	v->file_queue = NULL;
	hang_up(v);
	if (at_once)
		builder_request_kill(v->builder_request);
}

/* Frees the file queue only; the file helper may outlive it. */
static void
close_file_queue(struct file_queue *d, bool at_once)
{
	struct file_queue **at = &file_queues;

	must(d->first == NULL);
	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
	loop_unset(d->turn);
	dismiss_helper(d, at_once);
	free(d);
}

static void
nobody_came(void *self)
{
	struct file_queue *d = self;

	d->turn = 0;
	close_file_queue(d, false);
}

/* ---- one operation ---- */

static void next_turn(void *self);

/* Ends the first operation; e NULL: success. */
static void
end_first(struct file_queue *d, const struct err *e)
{
	static const struct err fine = { .code = ERR_none };
	struct operation *op = d->first;
	struct err why = e != NULL ? *e : fine;

	d->first = op->next;
	d->begun = false;
	loop_unset(d->patience);
	d->patience = 0;
	d->turn = loop_after(0, next_turn, d);
	utf8_tame(why.text);
	op->kind->end(op, &why);
}

/* The file helper may have half executed its commands, so the next operation gets a new one. */
static void
fail_first(struct file_queue *d, const struct err *e, bool at_once)
{
	dismiss_helper(d, at_once);
	end_first(d, e);
}

static void
out_of_patience(void *self)
{
	struct file_queue *d = self;
	struct err e;

	d->patience = 0;
	err_set(&e, ERR_deadline_exceeded, "%s%sthe workspace did not answer within %d seconds",
	    d->first->path != NULL ? d->first->path : "", d->first->path != NULL ? ": " : "",
	    PATIENCE_MS / 1000);
	fail_first(d, &e, true);
}

static void
be_patient(struct file_queue *d)
{
	loop_unset(d->patience);
	d->patience = loop_after(PATIENCE_MS, out_of_patience, d);
}

static void
go(struct file_queue *d)
{
	struct visit *v = d->visit;
	bool was_full = v->full;
	struct err e;

	if (v->channel < 0)
		return; /* the continuation may resume it before on_ended() is called */
	v->full = false;
	if (d->first->kind->go(d->first, &e) < 0 ||
	    (v->full != was_full &&
		loop_change(v->channel, EPOLLIN | (v->full ? EPOLLOUT : 0u), &e) < 0))
		fail_first(d, &e, true);
}

static void
on_done(struct file_queue *d, const struct file_frame_head *head)
{
	struct operation *op = d->first;
	struct err e = { .code = ERR_none };

	if (head->fault == FILE_FRAME_MISPLACED)
		err_set(&e, faults[head->fault].code,
		    "offset: %.120s has %" PRIu64 " bytes; the next piece must begin there",
		    op->path != NULL ? op->path : "", head->size);
	else if (head->fault != FILE_FRAME_OK)
		err_set(&e, faults[head->fault].code, "%.120s%s%s",
		    op->path != NULL ? op->path : "", op->path != NULL ? ": " : "",
		    faults[head->fault].text);
	else if (op->kind->finish == NULL || op->kind->finish(op, head, &e) == 0) {
		end_first(d, NULL);
		return;
	}
	fail_first(d, &e, false);
}

/* true: more may follow.  false: nothing is left, or the file queue may be freed. */
static bool
receive(struct file_queue *d)
{
	static struct file_frame p;
	int n = file_frame_receive(d->visit->channel, &p);
	struct err e;

	if (n < 0 && errno == EAGAIN)
		return false;
	if (d->first == NULL || !d->begun) {
		dismiss_helper(d, true); /* it died, or sent a frame without a request */
		return false;
	}
	if (n == 1 && p.head.kind == FILE_FRAME_DONE) {
		on_done(d, &p.head);
		return false;
	}
	if (n == 1 && d->first->kind->take != NULL) {
		if (d->first->kind->take(d->first, &p, &e) == 0)
			return true;
	} else if (n == 1 || errno == EBADMSG)
		err_set(&e, ERR_internal, "the file helper sent an invalid frame");
	else { /* on_ended() is called soon with the reason, and ends the operation with it */
		hang_up(d->visit);
		builder_request_kill(d->visit->builder_request);
		return false;
	}
	fail_first(d, &e, true);
	return false;
}

static void
on_channel(void *self, uint32_t events)
{
	struct visit *v = self;
	int64_t until_us = loop_now_us() + TURN_US;

	if ((events & EPOLLOUT) != 0 && v->file_queue->begun)
		go(v->file_queue);
	/* go() may close the file queue, but `v` stays valid until the builder reports its end. */
	for (int i = 0; i < AT_ONCE && v->file_queue != NULL && (events & ~EPOLLOUT) != 0; i++)
		if (!receive(v->file_queue) || loop_now_us() >= until_us)
			return;
}

static void
on_ended(void *self, const struct err *why)
{
	struct visit *v = self;
	struct file_queue *d = v->file_queue;
	struct err e;

	if (d != NULL) {
		d->visit = NULL;
		hang_up(v);
		if (why != NULL)
			e = *why;
		else
			err_set(&e, ERR_internal, "unknown reason");
		err_add(&e, "the file helper ended");
	}
	free(v);
	if (d != NULL && d->begun)
		end_first(d, &e);
}

static int
call_file_helper(struct file_queue *d, struct err *e)
{
	struct visit *v = calloc(1, sizeof *v);

	if (v == NULL)
		return err_sys(e, "file_helper");
	v->file_queue = d;
	v->builder_request = file_helper_start(d->workspace, &v->channel, on_ended, v, e);
	if (v->builder_request == NULL) {
		free(v);
		return -1;
	}
	d->visit = v;
	if (loop_watch(v->channel, EPOLLIN, on_channel, v, e) < 0) {
		dismiss_helper(d, true);
		return -1;
	}
	return 0;
}

/* ---- the line ---- */

static void
next_turn(void *self)
{
	struct file_queue *d = self;
	struct err e = { .code = ERR_none };

	d->turn = 0;
	if (d->first == NULL) {
		d->turn = loop_after(LINGER_MS, nobody_came, d);
		return;
	}
	if (d->first->refused.code != ERR_none)
		e = d->first->refused;
	else if (d->visit != NULL || call_file_helper(d, &e) == 0) {
		d->begun = true;
		be_patient(d);
		go(d);
		return;
	}
	end_first(d, &e);
}

static struct file_queue *
open_file_queue(struct workspace *workspace)
{
	struct file_queue *d = find(workspace);

	if (d == NULL) {
		d = calloc(1, sizeof *d);
		must(d != NULL);
		*d = (struct file_queue){ .next = file_queues, .workspace = workspace };
		file_queues = d;
		workspace_at_end(workspace, file_queue_leave);
	}
	return d;
}

void
file_queue_add(struct workspace *workspace, struct operation *op)
{
	struct file_queue *d = open_file_queue(workspace);

	op->file_queue = d;
	op->next = NULL;
	if (d->first == NULL)
		d->first = op;
	else
		d->last->next = op;
	d->last = op;
	if (!d->begun) {
		loop_unset(d->turn);
		d->turn = loop_after(0, next_turn, d);
	}
}

struct operation *
file_queue_current(const struct workspace *workspace)
{
	struct file_queue *d = find(workspace);

	return d != NULL && d->begun ? d->first : NULL;
}

void
file_queue_leave(const struct workspace *workspace)
{
	struct file_queue *d = find(workspace);

	if (d != NULL)
		close_file_queue(d, true);
}

int
file_queue_send(struct operation *op, const struct file_frame *p, struct err *e)
{
	struct visit *v = op->file_queue->visit;

	if (file_frame_send(v->channel, p) > 0)
		return 1;
	/* A file helper that has exited may have sent the reason: read that first. */
	if (errno != EAGAIN && errno != EPIPE && errno != ECONNRESET)
		return err_sys(e, "file_helper");
	v->full = errno == EAGAIN;
	return 0;
}

void
file_queue_wait(struct operation *op)
{
	loop_unset(op->file_queue->patience);
	op->file_queue->patience = 0;
}

void
file_queue_resume(struct operation *op)
{
	be_patient(op->file_queue);
	go(op->file_queue);
}

void
file_queue_fail(struct operation *op, const struct err *e)
{
	fail_first(op->file_queue, e, true);
}
