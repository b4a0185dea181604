/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lives.c - from an order to a process tree, and from its last process's end to an answer.
 *
 * Theory of operation.  A life is made in one go: cgroups, a pipe for what its first process
 * reports, clone3.  Two descriptors are then watched: the pipe (READY, and how the program ended)
 * and the pidfd of the first process.  When that is readable all of the life's pid namespace is
 * dead, for the kernel does not let a namespace's pid 1 be waited for earlier; so what was used can
 * be read, the cgroups removed, and the answer be the last that is ever heard of it.
 *
 * A life that is made is not yet a program that runs: it waits for code on its control channel.
 * Whoever wants boxes that wait, made ahead of need, orders them and keeps the code back.
 *
 * Trusts reports up to READY, which no foreign code has seen; what comes after is a claim about the
 * box that makes it.
 */
#include "executor/builder/lives.h"

#include "common/auto.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/schema.h"
#include "executor/builder/cage.h"
#include "executor/builder/limits/census.h"
#include "executor/builder/shelf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum {
	REMOVE_TRIES = 200,
	REMOVE_PAUSE_MS = 10,
	TMP_FILES = 65536,
	GRACE_MS = 5000, /* that the executor's clock has before this one ends a box */
	CENSUS_MS = 50,
	GUARD_MS = 10, /* between two looks at what boxes hold */
};

struct life {
	struct order order;
	pid_t pid;
	int pidfd, report;
	bool has_group, over; /* over: it held more memory than it may */
	struct cgroup group;
	struct answer answer; /* as far as it is known */
	uint64_t timer;
	uint64_t held;   /* most that was counted where no cgroup does */
	unsigned tries;  /* to remove its cgroups */
	int64_t over_us; /* when its last process had ended */
};

static struct {
	const struct host *host;
	struct filter guests[language_COUNT], steward;
	struct life *all[ORDER_MAX_LIVING + 1];
	uint64_t guard;                    /* timer of look_at_memory() */
	bool doomed[ORDER_MAX_LIVING + 1]; /* workspaces to be wiped when nobody works in them */
} lives;

int
lives_open(const struct host *host, struct err *e)
{
	static const unsigned who[language_COUNT] = {
		[language_python] = FILTER_PYTHON,
		[language_node] = FILTER_NODE,
		[language_shell] = FILTER_SHELL,
	};

	unsigned counted = cgroup_limits_by() == LIMITS_RLIMIT ? 0 : FILTER_COUNTED;

	lives.host = host;
	for (int l = 0; l < language_COUNT; l++)
		if (filter_make(&lives.guests[l], who[l] | counted, e) < 0)
			return -1;
	return filter_make(&lives.steward, FILTER_STEWARD, e);
}

/* ---- making ---- */

/* Returns twice, as fork does. */
static pid_t
clone_life(const struct life *life, bool steward, int *pidfd)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
	};

	if (!steward)
		args.flags |= CLONE_NEWNET;
	if (life->has_group && life->group.into >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)life->group.into;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

/* What is opened here for the new process, and closed in this one once that has it. */
struct parts {
	struct cage cage;
	int report[2];
};

static void
parts_close(struct parts *p)
{
	int *fds[] = { &p->cage.workspace, &p->cage.tmp, &p->report[0], &p->report[1] };

	for (size_t i = 0; i < COUNT(fds); i++)
		if (*fds[i] >= 0)
			close(take_fd(fds[i]));
}

static int
prepare(struct life *life, struct parts *p, struct err *e)
{
	const struct order *o = &life->order;
	bool steward = o->kind == ORDER_STEWARD;
	uint64_t bytes;

	p->cage.workspace = shelf_lend(o->workspace, &bytes, e);
	if (p->cage.workspace < 0)
		return -1;
	if (pipe2(p->report, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, "pipe");
	p->cage.report = p->report[1];
	if (steward)
		return 0;
	p->cage.tmp = shelf_tmpfs(o->tmp_bytes, TMP_FILES, host_uid(lives.host, o->workspace), e);
	if (p->cage.tmp < 0 || cgroup_make(&life->group, o, bytes, e) < 0)
		return -1;
	life->has_group = true;
	p->cage.group = &life->group;
	return 0;
}

static int
start(struct life *life, enum cage_program program, const int *fds, size_t nfds, struct err *e)
{
	__attribute__((cleanup(parts_close))) struct parts p = {
		.cage = { .program = program,
		    .host = lives.host,
		    .order = &life->order,
		    .workspace = -1,
		    .tmp = -1 },
		.report = { -1, -1 },
	};
	int64_t began = loop_now_us(), prepared;

	p.cage.filter =
	    program == CAGE_STEWARD ? &lives.steward : &lives.guests[life->order.language];
	for (size_t i = 0; i < nfds; i++)
		p.cage.fds[i] = fds[i];
	if (prepare(life, &p, e) < 0)
		return err_add(e, "%s", step_name(STEP_prepare));
	prepared = loop_now_us();
	life->pid = clone_life(life, program == CAGE_STEWARD, &life->pidfd);
	if (life->pid < 0)
		return err_sys(e, "%s", step_name(STEP_clone));
	if (life->pid == 0)
		cage_run(&p.cage);
	life->answer.step_us[STEP_prepare] = (uint32_t)(prepared - began);
	life->answer.step_us[STEP_clone] = (uint32_t)(loop_now_us() - prepared);
	life->report = take_fd(&p.report[0]);
	cgroup_settle(&life->group);
	return 0;
}

/* ---- the end ---- */

static void
life_free(struct life *life)
{
	if (life->pidfd >= 0)
		close(life->pidfd);
	if (life->report >= 0)
		close(life->report);
	free(life);
}

/* The steps of the builder are known already. */
static void
note_ready(struct answer *answer, const struct cage_report *report)
{
	answer->error = report->error;
	answer->layers = report->layers;
	for (int s = STEP_cgroup; s < STEP_COUNT; s++)
		answer->step_us[s] = report->step_us[s];
}

/* false: there is no more to read yet. */
static bool
read_report(struct life *life, struct cage_report *report)
{
	return read(life->report, report, sizeof *report) == (ssize_t)sizeof *report;
}

static void
note_report(struct life *life, const struct cage_report *report)
{
	struct answer *answer = &life->answer;

	if (report->said == CAGE_READY && answer->kind == 0) {
		note_ready(answer, report);
		answer->kind = report->error.code == ERR_none ? ANSWER_STARTED : ANSWER_ENDED;
	} else if (report->said == CAGE_ENDED && answer->kind == ANSWER_STARTED) {
		answer->has_status = report->error.code == ERR_none;
		answer->status = report->status;
		answer->error = report->error;
		answer->error.text[sizeof answer->error.text - 1] = '\0';
	}
}

/* Its first process is a zombie; all others are gone. */
static void
note_end(struct life *life)
{
	struct answer *answer = &life->answer;
	struct cgroup_use use = { 0 };
	struct rusage usage = { 0 };
	int status = 0;

	while (wait4(life->pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	if (answer->kind == 0)
		err_set(&answer->error, ERR_internal, "a box ended while it was made (status %d)",
		    status);
	if (life->has_group)
		cgroup_read(&life->group, &use);
	if (life->order.kind == ORDER_STEWARD) {
		answer->has_status = true;
		answer->status = status;
	}
	answer->kind = ANSWER_ENDED;
	answer->out_of_memory = use.out_of_memory || life->over;
	answer->too_many_processes = use.too_many_processes;
	answer->max_memory_bytes = use.max_memory_bytes;
	answer->cpu_us = use.cpu_us;
	if (cgroup_limits_by() != LIMITS_RLIMIT || life->order.kind == ORDER_STEWARD)
		return;
	answer->cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
	                 (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	answer->max_memory_bytes = (uint64_t)usage.ru_maxrss * 1024;
	if (answer->max_memory_bytes < life->held)
		answer->max_memory_bytes = life->held;
}

static bool
is_used(uint32_t workspace)
{
	for (size_t i = 1; i <= ORDER_MAX_LIVING; i++)
		if (lives.all[i] != NULL && lives.all[i]->order.workspace == workspace)
			return true;
	return false;
}

/* Who works in it ends soon: the executor has sent it home. */
static void
wipe(uint32_t workspace)
{
	struct err e;

	lives.doomed[workspace] = is_used(workspace);
	if (!lives.doomed[workspace] && shelf_remove(workspace, &e) < 0)
		log_error("a workspace is not wiped", LOG_E(&e));
}

/* The kernel may still count a dead process in a cgroup for a moment. */
static void
bury(void *self)
{
	struct life *life = self;

	if (life->has_group && !cgroup_remove(&life->group) && life->tries++ < REMOVE_TRIES) {
		loop_after(REMOVE_PAUSE_MS, bury, life);
		return;
	}
	if (life->tries >= REMOVE_TRIES)
		log_error(
		    "a cgroup of a box cannot be removed", LOG_N("number", life->group.number));
	life->answer.remove_us = (uint32_t)(loop_now_us() - life->over_us);
	lives.all[life->order.id] = NULL;
	if (lives.doomed[life->order.workspace])
		wipe(life->order.workspace);
	lives_answer(&life->answer, -1);
	life_free(life);
}

static void
kill_life(void *self)
{
	const struct life *life = self;

	syscall(SYS_pidfd_send_signal, life->pidfd, SIGKILL, NULL, 0);
}

/* Where no cgroup counts it, the processes are counted, which costs more and so is done less. */
static bool
holds_too_much(struct life *life)
{
	uint64_t may = life->order.memory_bytes, held;

	if (cgroup_limits_by() != LIMITS_RLIMIT)
		return cgroup_is_over(&life->group);
	if (!lives.host->own_proc)
		return false;
	held = census_memory(lives.host->proc, life->pid, may);
	if (held > life->held)
		life->held = held;
	return held > may;
}

/* Of all boxes; only while there are some. */
static void
look_at_memory(void *self)
{
	int64_t pause = cgroup_limits_by() == LIMITS_RLIMIT ? CENSUS_MS : GUARD_MS;
	size_t boxes = 0;

	(void)self;
	for (size_t i = 1; i <= ORDER_MAX_LIVING; i++) {
		struct life *life = lives.all[i];

		if (life == NULL || !life->has_group)
			continue;
		boxes++;
		if (!life->over && holds_too_much(life)) {
			life->over = true;
			kill_life(life);
		}
	}
	lives.guard = boxes > 0 ? loop_after(pause, look_at_memory, NULL) : 0;
}

/* What it cannot watch it must not keep; its boxes die with it. */
static void
must_watch(int fd, uint32_t events, void (*ready)(void *self, uint32_t events), struct life *life)
{
	struct err e;

	if (loop_watch(fd, events, ready, life, &e) == 0)
		return;
	log_error("a box cannot be watched", LOG_E(&e));
	_exit(1);
}

static void
announce(struct life *life)
{
	int64_t wall_ms = (int64_t)life->order.wall_ms;

	if (life->order.kind == ORDER_BOX)
		life->timer = loop_after(wall_ms + GRACE_MS, kill_life, life);
	lives_answer(&life->answer, -1);
}

static void
on_report(void *self, uint32_t events)
{
	struct life *life = self;
	struct cage_report report;

	(void)events;
	if (!read_report(life, &report)) {
		loop_forget(life->report);
		return;
	}
	bool was_started = life->answer.kind == ANSWER_STARTED;

	note_report(life, &report);
	if (!was_started && life->answer.kind == ANSWER_STARTED)
		announce(life);
}

static void
on_end(void *self, uint32_t events)
{
	struct life *life = self;
	struct cage_report report;

	(void)events;
	loop_forget(life->pidfd);
	loop_forget(life->report);
	loop_unset(life->timer);
	life->over_us = loop_now_us();
	while (read_report(life, &report))
		note_report(life, &report);
	note_end(life);
	bury(life);
}

/* ---- orders ---- */

static struct life *
life_new(const struct order *order)
{
	struct life *life = calloc(1, sizeof *life);

	if (life == NULL)
		return NULL;
	*life = (struct life){
		.order = *order,
		.pidfd = -1,
		.report = -1,
		.group = { .into = -1 },
		.answer = { .id = order->id },
	};
	return life;
}

static void
refuse(const struct order *order, const struct err *e)
{
	struct answer answer = {
		.kind = order->kind == ORDER_WORKSPACE ? ANSWER_WORKSPACE : ANSWER_ENDED,
		.id = order->id,
		.error = *e,
	};

	lives_answer(&answer, -1);
}

static int
may_begin(const struct order *order, struct err *e)
{
	if (lives.all[order->id] != NULL)
		return err_set(e, ERR_invalid_argument, "id: %u lives already", order->id);
	if (lives.doomed[order->workspace])
		return err_set(
		    e, ERR_invalid_argument, "workspace: %u is given up", order->workspace);
	if (order->kind == ORDER_BOX && !cage_has_runtime(order->language))
		return err_set(e, ERR_runtime_missing, "this host has no program for %s",
		    word_text(SET_language, (int)order->language));
	return 0;
}

static void
begin(const struct order *order, const int *fds, size_t nfds)
{
	bool steward = order->kind == ORDER_STEWARD;
	struct err e;

	if (may_begin(order, &e) < 0) {
		refuse(order, &e);
		return;
	}
	struct life *life = life_new(order);

	if (life == NULL) {
		err_set(&e, ERR_internal, "no memory for a box");
		refuse(order, &e);
		return;
	}
	if (start(life, steward ? CAGE_STEWARD : CAGE_LANGUAGE, fds, nfds, &e) < 0) {
		if (life->has_group)
			cgroup_remove(&life->group);
		refuse(order, &e);
		life_free(life);
		return;
	}
	lives.all[order->id] = life;
	must_watch(life->report, EPOLLIN, on_report, life);
	must_watch(life->pidfd, EPOLLIN, on_end, life);
	if (life->has_group && lives.guard == 0)
		lives.guard = loop_after(GUARD_MS, look_at_memory, NULL);
}

static void
add_workspace(const struct order *order)
{
	struct answer answer = { .kind = ANSWER_WORKSPACE, .id = order->id };
	/* Its root is a file, too. */
	int fd = shelf_add(order->id, order->bytes, order->files + 1,
	    host_uid(lives.host, order->id), &answer.error);

	lives_answer(&answer, fd);
}

void
lives_order(const struct order *order, int *fds, size_t nfds)
{
	switch (order->kind) {
	case ORDER_WORKSPACE:
		add_workspace(order);
		break;
	case ORDER_WIPE:
		wipe(order->id);
		break;
	case ORDER_BOX:
	case ORDER_STEWARD:
		begin(order, fds, nfds);
		break;
	case ORDER_KILL:
		if (lives.all[order->id] != NULL)
			kill_life(lives.all[order->id]);
		break;
	}
	for (size_t i = 0; i < nfds; i++)
		close(fds[i]);
}

/* ---- the first and the last ---- */

static void
remove_now(struct life *life)
{
	const struct timespec pause = { 0, REMOVE_PAUSE_MS * 1000000 };

	if (life->has_group)
		while (!cgroup_remove(&life->group) && life->tries++ < REMOVE_TRIES)
			nanosleep(&pause, NULL);
}

static int
try_life(struct life *life, struct err *e)
{
	struct cage_report report;
	siginfo_t info;

	if (start(life, CAGE_NOTHING, NULL, 0, e) < 0)
		return -1;
	while (waitid(P_PID, (id_t)life->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	while (read_report(life, &report))
		note_report(life, &report);
	note_end(life);
	*e = life->answer.error;
	return e->code == ERR_none ? 0 : -1;
}

int
lives_try(struct layers *layers, struct err *e)
{
	struct order order = {
		.kind = ORDER_BOX,
		.id = ORDER_MAX_LIVING,
		.workspace = ORDER_MAX_LIVING,
		.memory_bytes = 64 << 20,
		.tmp_bytes = 1 << 20,
		.cpu_milli = 1000,
		.processes = 1,
		.open_files = 64,
		.wall_ms = 10000,
	};
	struct life *life = life_new(&order);
	struct err ignored;

	if (life == NULL)
		return err_set(e, ERR_internal, "no memory");
	int r = shelf_add(order.workspace, 1 << 20, 16, host_uid(lives.host, order.workspace), e);

	if (r >= 0) {
		r = try_life(life, e);
		remove_now(life);
		shelf_remove(order.workspace, &ignored);
	}
	*layers = life->answer.layers;
	life_free(life);
	return r < 0 ? -1 : 0;
}

void
lives_end(void)
{
	for (size_t i = 1; i <= ORDER_MAX_LIVING; i++)
		if (lives.all[i] != NULL)
			kill_life(lives.all[i]);
	for (size_t i = 1; i <= ORDER_MAX_LIVING; i++)
		if (lives.all[i] != NULL) {
			while (waitpid(lives.all[i]->pid, NULL, 0) < 0 && errno == EINTR)
				;
			remove_now(lives.all[i]);
		}
}
