/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c - from a new process to its last answer, whatever its kind.
 *
 * Theory of operation.  Two descriptors of a process are watched: the socket of its reports and
 * its pidfd.  If it is pid 1 of its own namespaces, a readable pidfd says that all processes of
 * its pid namespace are dead, because the kernel does not allow waiting for a namespace's pid 1
 * earlier.  Then the usage is read and the last answer is sent.  The cgroups are removed after the
 * answer, because a caller waits for the answer.
 *
 * Trusts reports, because they are written before any guest code runs.
 */
#include "executor/builder/process.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "executor/builder/answer.h"
#include "executor/builder/limits/pace.h"
#include "executor/builder/processes.h"
#include "executor/builder/workspace_table.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

static unsigned filters; /* seccomp programs of all processes, without the builder's */

/* ---- the end ---- */

void
process_free(struct process *p)
{
	int *fds[] = { &p->pidfd, &p->report };

	process_kill_over(p);
	filters -= p->kind->filters;
	for (size_t i = 0; i < COUNT(fds); i++)
		if (*fds[i] >= 0)
			close(take_fd(fds[i]));
	if (p->kind->close != NULL)
		p->kind->close(p);
	free(p);
}

void
process_discard(struct process *p)
{
	cgroup_settle(&p->group);
	if (p->has_group)
		cgroup_remove(&p->group);
	process_free(p);
}

static void
leave(struct process *p)
{
	p->answer.kind = ANSWER_ENDED;
	processes_set(p->order.id, NULL);
	answer_send(&p->answer, NULL, 0);
	process_free(p);
}

/* Runs after the last answer, when the process holds nothing any more. */
static void
leave_all(struct process *p)
{
	uint32_t workspace = p->order.workspace;
	struct cgroup group = p->group;
	bool has_group = p->has_group;

	p->answer.remove_us = (uint32_t)(loop_now_us() - p->ended_us);
	leave(p);
	if (has_group)
		cgroup_retire(&group);
	workspace_table_release(workspace);
}

void
process_bury(struct process *p)
{
	p->dead = true;
	if (p->programs == 0)
		leave_all(p);
}

void
process_end(struct process *p)
{
	struct process *box = p->box;

	leave(p);
	if (box != NULL && --box->programs == 0 && box->dead)
		leave_all(box);
}

void
process_fail(struct process *p, const struct err *e)
{
	p->answer.error = *e;
	process_end(p);
}

/* The first process is a zombie.  All others have ended. */
void
process_reap(struct process *p)
{
	struct answer *answer = &p->answer;
	struct rusage usage = { 0 };
	int status = 0;

	process_note(p);
	while (wait4(p->pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	if (answer->kind == 0)
		err_set(&answer->error, ERR_internal, "a box ended while it was made (status %d)",
		    status);
	use_add(&p->use, &usage);
	/* Usage since the kill is not the program's. */
	if (!p->told || cgroup_limits_by() == LIMITS_RLIMIT)
		use_note(&p->use, process_group(p), answer);
	answer->status = status;
}

struct cgroup *
process_group(struct process *p)
{
	return p->has_group ? &p->group : NULL;
}

/* ---- reports ---- */

void
process_tell_started(struct process *p)
{
	answer_send(&p->answer, NULL, 0);
}

/* The steps of the builder are known already. */
static void
note_ready(struct process *p, const struct confine_report *report)
{
	struct answer *answer = &p->answer;

	answer->error = report->error;
	answer->layers = report->layers;
	answer->step = report->step;
	for (int s = STEP_cgroup; s < STEP_COUNT; s++)
		answer->step_us[s] = report->step_us[s];
	answer->kind = report->error.code == ERR_none ? ANSWER_STARTED : ANSWER_ENDED;
}

static void
note_namespaces(struct process *p, uint32_t which, const int *fds, size_t nfds)
{
	if (p->kind->take_namespaces != NULL) {
		p->kind->take_namespaces(p, which, fds, nfds);
		return;
	}
	while (nfds > 0)
		close(fds[--nfds]);
}

/* No program can be started in a box whose namespaces are lost. */
static void
note_lost(struct process *p)
{
	err_set(&p->answer.error, ERR_unavailable, "the builder has no descriptor free");
	p->answer.kind = ANSWER_ENDED;
	process_kill(p);
}

/* False: nothing more can be read yet. */
static bool
note_report(struct process *p)
{
	struct confine_report report;
	int fds[HOST_NAMESPACES];
	size_t nfds = COUNT(fds);
	ssize_t n = fdio_receive(p->report, &report, sizeof report, fds, &nfds, MSG_DONTWAIT);

	if (n < 0 && errno == EMFILE)
		note_lost(p);
	else if (n != (ssize_t)sizeof report)
		return false;
	else if (report.said == CONFINE_SPACES)
		note_namespaces(p, report.spaces, fds, nfds);
	else if (p->answer.kind == 0)
		note_ready(p, &report);
	return true;
}

struct err
process_note(struct process *p)
{
	while (note_report(p))
		;
	return p->answer.error;
}

void
process_listen(struct process *p)
{
	bool was_started = p->answer.kind == ANSWER_STARTED;

	process_note(p);
	if (!was_started && p->answer.kind == ANSWER_STARTED)
		p->kind->started(p);
}

/* ---- the beginning ---- */

static int
check_new(const struct process_kind *kind, const struct order *order, struct err *e)
{
	if (processes_find(order->id) != NULL)
		return err_set(e, ERR_invalid_argument, "id: %u lives already", order->id);
	if (kind->filters > 0 && filters >= PACE_LIVING)
		return err_set(e, ERR_unavailable, "%d programs are at work already", PACE_LIVING);
	if (order->kind != ORDER_PROGRAM && workspace_table_is_doomed(order->workspace))
		return err_set(
		    e, ERR_invalid_argument, "workspace: %u is given up", order->workspace);
	return 0;
}

struct process *
process_new(const struct process_kind *kind, const struct order *order, struct err *e)
{
	struct process *p;

	if (check_new(kind, order, e) < 0)
		return NULL;
	p = calloc(1, kind->size);
	if (p == NULL) {
		err_set(e, ERR_internal, "no memory for a process");
		return NULL;
	}
	filters += kind->filters;
	*p = (struct process){
		.kind = kind,
		.order = *order,
		.pidfd = -1,
		.report = -1,
		.group = { .into = -1 },
		.answer = { .id = order->id },
	};
	return p;
}

void
process_add(struct process *p)
{
	processes_set(p->order.id, p);
	if (p->box != NULL)
		p->box->programs++;
	else
		workspace_table_use(p->order.workspace);
}

static void
on_report(void *self, uint32_t events)
{
	struct process *p = self;

	process_listen(p);
	if ((events & ~(uint32_t)EPOLLIN) != 0)
		loop_forget(p->report);
}

static void
on_end(void *self, uint32_t events)
{
	struct process *p = self;

	(void)events;
	p->kind->ended(p);
}

/* A process that cannot be watched is not kept: a program of the same user may have used up the
 * kernel's limit of watches for that user.  If it does not end when it is killed, it must not be
 * lost: all boxes die with this process. */
void
process_watch(struct process *p)
{
	struct err e;

	if (loop_watch(p->report, EPOLLIN, on_report, p, &e) == 0 &&
	    loop_watch(p->pidfd, EPOLLIN, on_end, p, &e) == 0) {
		if (p->doomed)
			process_kill(p);
		return;
	}
	log_error("what cannot be watched is ended", LOG_E(&e));
	process_kill_now(p);
	if (!process_kill_await(p))
		_exit(1);
	p->kind->ended(p);
}

void
process_forget(struct process *p)
{
	loop_forget(p->pidfd);
	loop_forget(p->report);
	p->ended_us = loop_now_us();
}
