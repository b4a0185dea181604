/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lives.c - boxes and file helpers: from an order to a process tree, and from the end of its last
 * process to an answer.
 *
 * Theory of operation.  A box is made in one step: cgroups, a socket for the reports of its first
 * process, clone3.  Two descriptors are then watched: that socket and the pidfd of the first
 * process.  When the pidfd is readable, all processes of the box's pid namespace are dead, because
 * the kernel does not allow waiting for a namespace's pid 1 earlier.  Then the usage is read and
 * the last answer is sent.  The cgroups are removed after the answer, because a caller waits for
 * the answer.
 *
 * Programs (program.c) wait until their box is ready and are started then.  A program that is
 * alone ends its box.
 *
 * Trusts reports, because they are written before any guest code runs.
 */
#include "executor/builder/lives.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "executor/builder/life.h"
#include "executor/builder/limits/pace.h"
#include "executor/builder/limits/release.h"
#include "executor/builder/nets.h"
#include "executor/builder/workspace_table.h"
#include "executor/builder/zygotes.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum {
	GRACE_MS = 5000, /* time that the executor's clock has before this one ends a box */
};

static struct {
	const struct host *host;
	struct life *all[ORDER_MAX_LIVING + 1];
	bool doomed[ORDER_MAX_LIVING + 1]; /* workspaces to wipe when unused */
	unsigned programs; /* number of live programs and file helpers: each has its own seccomp
	                      program */
} lives;

int
lives_open(const struct host *host, struct err *e)
{
	lives.host = host;
	return place_open(host, e) < 0 || program_open(host, e) < 0 ? -1 : 0;
}

struct life *
life_of(uint32_t id)
{
	return id >= 1 && id <= ORDER_MAX_LIVING ? lives.all[id] : NULL;
}

/* ---- the end ---- */

void
life_free(struct life *life)
{
	int *fds[] = { &life->pidfd, &life->report };

	life_kill_over(life);
	lives.programs -= life->order.kind != ORDER_BOX;
	for (size_t i = 0; i < COUNT(fds); i++)
		if (*fds[i] >= 0)
			close(take_fd(fds[i]));
	for (size_t i = 0; i < COUNT(life->fds); i++)
		if (life->fds[i] >= 0)
			close(take_fd(&life->fds[i]));
	for (int n = 0; n < HOST_NAMESPACES; n++)
		if (life->spaces[n] >= 0 && n != HOST_NET && n != HOST_MNT)
			close(life->spaces[n]);
	release_close((int[]){ life->tmp, life->spaces[HOST_MNT] }, 2);
	nets_give(life->net);
	loop_unset(life->timer);
	free(life);
}

static void
leave(struct life *life)
{
	life->answer.kind = ANSWER_ENDED;
	lives.all[life->order.id] = NULL;
	lives_answer(&life->answer, NULL, 0);
	life_free(life);
}

static void
kill_life(void *self)
{
	life_kill(self);
}

/* The steps of the builder are known already. */
static void
note_ready(struct life *life, const struct confine_report *report)
{
	struct answer *answer = &life->answer;

	answer->error = report->error;
	answer->layers = report->layers;
	for (int s = STEP_cgroup; s < STEP_COUNT; s++)
		answer->step_us[s] = report->step_us[s];
	answer->kind = report->error.code == ERR_none ? ANSWER_STARTED : ANSWER_ENDED;
}

static void
note_spaces(struct life *life, const struct confine_report *report, const int *fds, size_t nfds)
{
	size_t i = 0;

	for (int n = 0; n < HOST_NAMESPACES && i < nfds; n++)
		if ((report->spaces & 1u << n) != 0)
			life->spaces[n] = fds[i++];
	life->spaces[HOST_NET] = life->net;
}

/* No program can be started in a box whose namespaces are lost. */
static void
note_lost(struct life *life)
{
	err_set(&life->answer.error, ERR_unavailable, "the builder has no descriptor free");
	life->answer.kind = ANSWER_ENDED;
	life_kill(life);
}

/* False: nothing more can be read yet. */
static bool
note_report(struct life *life)
{
	struct confine_report report;
	int fds[HOST_NAMESPACES];
	size_t nfds = COUNT(fds);
	ssize_t n = fdio_receive(life->report, &report, sizeof report, fds, &nfds, MSG_DONTWAIT);

	if (n < 0 && errno == EMFILE)
		note_lost(life);
	else if (n != (ssize_t)sizeof report)
		return false;
	else if (report.said == CONFINE_SPACES)
		note_spaces(life, &report, fds, nfds);
	else if (life->answer.kind == 0)
		note_ready(life, &report);
	return true;
}

/* The first process is a zombie.  All others have ended. */
void
life_note_end(struct life *life)
{
	struct answer *answer = &life->answer;
	struct rusage usage = { 0 };
	int status = 0;

	while (wait4(life->pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	if (answer->kind == 0)
		err_set(&answer->error, ERR_internal, "a box ended while it was made (status %d)",
		    status);
	use_add(life, &usage);
	/* Usage since the kill is not the program's. */
	if (!life->told || cgroup_limits_by() == LIMITS_RLIMIT)
		use_note(life, answer);
	answer->status = status;
}

static bool
is_used(uint32_t workspace)
{
	for (size_t i = 1; i <= ORDER_MAX_LIVING; i++)
		if (lives.all[i] != NULL && lives.all[i]->order.workspace == workspace)
			return true;
	return false;
}

/* Processes that use it end soon: the executor has ordered it. */
static void
wipe(uint32_t workspace)
{
	struct err e;

	lives.doomed[workspace] = is_used(workspace);
	if (!lives.doomed[workspace] && workspace_table_remove(workspace, &e) < 0)
		log_error("a workspace is not wiped", LOG_E(&e));
}

/* Runs after the last answer, when the object holds nothing any more. */
static void
bury(struct life *life)
{
	uint32_t workspace = life->order.workspace;
	struct cgroup group = life->group;
	bool has_group = life->has_group;

	life->answer.remove_us = (uint32_t)(loop_now_us() - life->over_us);
	leave(life);
	if (has_group)
		cgroup_retire(&group);
	if (lives.doomed[workspace])
		wipe(workspace);
}

void
life_end(struct life *life)
{
	struct life *box = life->box;

	leave(life);
	if (box != NULL && --box->programs == 0 && box->dead)
		bury(box);
}

void
life_fail(struct life *life, const struct err *e)
{
	life->answer.error = *e;
	life_end(life);
}

static void
start_waiting(struct life *box)
{
	struct life *next;

	for (struct life *program = take_ptr(box->waiting); program != NULL; program = next) {
		next = take_ptr(program->next);
		program_start(program);
	}
}

static void
fail_waiting(struct life *box)
{
	struct err e = box->answer.error;
	struct life *next;

	if (e.code == ERR_none)
		err_set(&e, ERR_unavailable, "the box ended before the program was started");
	for (struct life *program = take_ptr(box->waiting); program != NULL; program = next) {
		next = take_ptr(program->next);
		life_fail(program, &e);
	}
}

struct err
life_note(struct life *life)
{
	while (note_report(life))
		;
	return life->answer.error;
}

void
life_listen(struct life *life)
{
	bool was_started = life->answer.kind == ANSWER_STARTED;

	while (note_report(life))
		;
	if (was_started || life->answer.kind != ANSWER_STARTED)
		return;
	use_offer(life);
	start_waiting(life);
}

static void
on_report(void *self, uint32_t events)
{
	struct life *life = self;

	life_listen(life);
	if ((events & ~(uint32_t)EPOLLIN) != 0)
		loop_forget(life->report);
}

/* A process that cannot be watched is not kept: a program of the same user may have used up the
 * kernel's limit of watches for that user.  If it does not end when it is killed, it must not be
 * lost: all boxes die with this process. */
void
life_watch(struct life *life, void (*on_end)(void *self, uint32_t events))
{
	struct err e;

	if (loop_watch(life->report, EPOLLIN, on_report, life, &e) == 0 &&
	    loop_watch(life->pidfd, EPOLLIN, on_end, life, &e) == 0) {
		if (life->doomed)
			life_kill(life);
		return;
	}
	log_error("what cannot be watched is ended", LOG_E(&e));
	life_kill_now(life);
	if (!life_kill_await(life))
		_exit(1);
	on_end(life, 0);
}

void
life_forget(struct life *life)
{
	loop_forget(life->pidfd);
	loop_forget(life->report);
	loop_unset(life->timer);
	life->timer = 0;
	life->over_us = loop_now_us();
}

static void
on_end(void *self, uint32_t events)
{
	struct life *life = self;

	(void)events;
	life_forget(life);
	while (note_report(life))
		;
	life_note_end(life);
	fail_waiting(life);
	life->dead = true;
	if (life->programs == 0)
		bury(life);
}

/* ---- orders ---- */

struct life *
life_new(const struct order *order)
{
	struct life *life = calloc(1, sizeof *life);

	if (life == NULL)
		return NULL;
	lives.programs += order->kind != ORDER_BOX;
	*life = (struct life){
		.order = *order,
		.pidfd = -1,
		.report = -1,
		.fds = { -1, -1, -1 },
		.net = -1,
		.tmp = -1,
		.spaces = { -1, -1, -1, -1, -1, -1, -1 },
		.group = { .into = -1 },
		.answer = { .id = order->id },
	};
	return life;
}

void
lives_refuse(const struct order *order, const struct err *e)
{
	struct answer answer = {
		.kind = order->kind == ORDER_WORKSPACE ? ANSWER_WORKSPACE : ANSWER_ENDED,
		.id = order->id,
		.error = *e,
	};

	lives_answer(&answer, NULL, 0);
}

static int
may_begin(const struct order *order, struct err *e)
{
	if (lives.all[order->id] != NULL)
		return err_set(e, ERR_invalid_argument, "id: %u lives already", order->id);
	if (order->kind != ORDER_BOX && lives.programs >= PACE_LIVING)
		return err_set(e, ERR_unavailable, "%d programs are at work already", PACE_LIVING);
	if (order->kind != ORDER_PROGRAM && lives.doomed[order->workspace])
		return err_set(
		    e, ERR_invalid_argument, "workspace: %u is given up", order->workspace);
	return 0;
}

static int
begin(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	struct life *life;

	if (may_begin(order, e) < 0)
		return -1;
	if ((life = life_new(order)) == NULL)
		return err_set(e, ERR_internal, "no memory for a box");
	if (place_start(life, fds, nfds, e) < 0) {
		cgroup_settle(&life->group);
		if (life->has_group)
			cgroup_remove(&life->group);
		life_free(life);
		return -1;
	}
	lives.all[order->id] = life;
	life_watch(life, on_end);
	return 0;
}

/* Takes ownership of the descriptors. */
static int
begin_program(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	struct life *box = life_of(order->box), *life;

	if (box == NULL || box->order.kind != ORDER_BOX || box->dead)
		return err_set(e, ERR_unavailable, "box: %u is gone", order->box);
	if (program_check(order, e) < 0 || may_begin(order, e) < 0)
		return -1;
	if ((life = life_new(order)) == NULL)
		return err_set(e, ERR_internal, "no memory for a program");
	life->box = box;
	for (size_t i = 0; i < nfds; i++)
		life->fds[i] = take_fd(&fds[i]);
	lives.all[order->id] = life;
	box->programs++;
	if (box->answer.kind == ANSWER_STARTED) {
		program_start(life);
		return 0;
	}
	life->next = box->waiting;
	box->waiting = life;
	return 0;
}

static int
add_workspace(const struct order *order)
{
	struct answer answer = { .kind = ANSWER_WORKSPACE, .id = order->id };
	/* The root directory counts as a file too. */
	uint64_t files = order->files + 1;
	uid_t owner = host_uid(lives.host, order->id);
	int fd = order->adopt != 0
	             ? workspace_table_adopt(order->id, order->bytes, files, owner, &answer.error)
	             : workspace_table_add(order->id, order->bytes, files, owner, &answer.error);

	if (!lives_answer(&answer, &fd, fd >= 0 ? 1 : 0))
		wipe(order->id);
	return 0;
}

static int
set_clock(const struct order *order)
{
	struct life *box = life_of(order->id);

	/* A dead box waits only for the last answers of its programs. */
	if (box == NULL || box->dead || box->order.kind != ORDER_BOX)
		return 0;
	loop_unset(box->timer);
	box->timer = 0;
	if (order->wall_ms == 0) {
		use_tell(box);
		return 0;
	}
	box->timer = loop_after((int64_t)order->wall_ms + GRACE_MS, kill_life, box);
	box->used = true;
	guard_begin(lives.host, box, order->cpu_ms);
	return 0;
}

/* A caller that waits for the end of a run need not wait until the kernel has freed the memory. */
void
life_tell_killed(struct life *life)
{
	struct answer answer;

	use_note(life, &life->answer);
	life->told = true;
	answer = life->answer;
	answer.kind = ANSWER_KILLED;
	if (life->order.kind == ORDER_BOX)
		lives_answer(&answer, NULL, 0);
}

static int
kill_all(const struct order *order)
{
	struct life *life = life_of(order->id);

	if (life == NULL)
		return 0;
	life->asks = true;
	if (life->end == LIFE_KILLED)
		life_tell_killed(life);
	else
		life_kill(life);
	return 0;
}

/* An interrupt is also for the processes that a program waits for, as at a terminal: a shell
 * does not handle it before its child has ended.  The program has its own process group
 * (confine.c).  On kernels before 6.9 the group is signalled by number, which is safe if the
 * program is this process's child and so keeps the number in use. */
static void
interrupt(const struct life *life)
{
	const unsigned process_group = 1 << 2; /* PIDFD_SIGNAL_PROCESS_GROUP */

	if (syscall(SYS_pidfd_send_signal, life->pidfd, SIGINT, NULL, process_group) == 0)
		return;
	if (life->order.zygote == 0 && !life->reaped && life->pid > 1 &&
	    kill(-life->pid, SIGINT) == 0)
		return;
	syscall(SYS_pidfd_send_signal, life->pidfd, SIGINT, NULL, 0);
}

static int
send_signal(const struct order *order)
{
	struct life *life = life_of(order->id);

	if (life == NULL)
		return 0;
	if (order->signal == SIGKILL)
		life_kill(life);
	else if (life->pidfd >= 0 && order->signal == SIGINT)
		interrupt(life);
	else if (life->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, life->pidfd, (int)order->signal, NULL, 0);
	if (order->signal == SIGKILL && life->box != NULL && life->box->order.container != 0)
		life_kill(life->box); /* only this ends the other processes of a container */
	return 0;
}

static int
carry_out(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	switch (order->kind) {
	case ORDER_WORKSPACE:
		return add_workspace(order);
	case ORDER_CLEAR:
		workspace_table_clear();
		return 0;
	case ORDER_WIPE:
		wipe(order->id);
		return 0;
	case ORDER_BOX:
	case ORDER_FILE_HELPER:
		return begin(order, fds, nfds, e);
	case ORDER_PROGRAM:
		return begin_program(order, fds, nfds, e);
	case ORDER_CLOCK:
		return set_clock(order);
	case ORDER_SIGNAL:
		return send_signal(order);
	default:
		return kill_all(order);
	}
}

void
lives_order(const struct order *order, int *fds, size_t nfds)
{
	struct err e = { 0 };

	if (carry_out(order, fds, nfds, &e) < 0)
		lives_refuse(order, &e);
	for (size_t i = 0; i < nfds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* ---- the last ---- */

/* This process must reap what a zygote left, otherwise its box could not end. */
void
lives_end(void)
{
	life_kill_all();
	zygotes_kill();
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	for (size_t i = 1; i <= ORDER_MAX_LIVING; i++)
		if (lives.all[i] != NULL && lives.all[i]->has_group)
			cgroup_end(&lives.all[i]->group);
}
