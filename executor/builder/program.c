/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - programs in boxes: processes that join an existing box, from start to exit status.
 *
 * Theory of operation.  A program is a child of this process, or a fork of a zygote that sends its
 * pidfd.  In both cases it is in the box's pid namespace from the beginning and so ends with the
 * box.  Its pidfd signals its end.  Its status is read by its parent: this process, or the zygote,
 * which reports it.  The box cannot end before that was done.
 *
 * Trusts the command line, which is the operator's, and zygotes.
 */
#include "executor/builder/program.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/table/schema.h"
#include "executor/builder/launch/code_file.h"
#include "executor/builder/launch/environment.h"
#include "executor/builder/life.h"
#include "executor/builder/limits/census.h"
#include "executor/builder/oci/launcher.h"
#include "executor/builder/slot.h"
#include "executor/builder/zygotes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
	MAX_ARGS = 16,
	MAX_COUNTED = 64, /* programs of a box that are counted */
};

struct interpreter {
	const char *argv[MAX_ARGS + 2]; /* with room for the file, and the end */
	const char *extension;          /* NULL: it has a driver */
};

/* clang-format off */
static struct interpreter runtimes[ORDER_MAX_RUNTIMES] = {
#define RUNTIME(language, ...) [language_##language] = { { __VA_ARGS__ }, NULL },
#include "executor/builder/runtimes.def"
};
/* clang-format on */

static struct {
	const struct host *host;
	struct filter guests[language_COUNT];
	int own_pids; /* the builder's pid namespace */
	uint64_t due; /* layers in force in the first program */
	size_t nruntimes;
	const char *shown; /* NULL: nothing of hidden.def */
} programs = { .nruntimes = language_COUNT };

/* ---- the command line ---- */

static int
add_runtime(const char *const *args, size_t n, struct err *e)
{
	struct interpreter *r = &runtimes[programs.nruntimes];

	if (n < 3 || n > MAX_ARGS || programs.nruntimes == ORDER_MAX_RUNTIMES)
		return err_set(e, ERR_invalid_argument,
		    "runtime: name, extension, and 1 to %d "
		    "arguments; %d of them at most",
		    MAX_ARGS - 2, ORDER_MAX_RUNTIMES - (int)language_COUNT);
	r->extension = args[1];
	memcpy(r->argv, args + 2, (n - 2) * sizeof *args);
	programs.nruntimes++;
	return 0;
}

static int
set_python(const char *const *args, size_t n, struct err *e)
{
	if (n != 1)
		return err_set(e, ERR_invalid_argument, "python: one path");
	runtimes[language_python].argv[0] = args[0];
	return 0;
}

static int
add_zygote(const char *const *args, size_t n, struct err *e)
{
	return n == 2 ? zygotes_add(args[0], args[1], e)
	              : err_set(e, ERR_invalid_argument, "zygote: its interpreter and modules");
}

static int
add_container(const char *const *args, size_t n, struct err *e)
{
	return n == 2 ? launcher_add(args[0], args[1], e)
	              : err_set(e, ERR_invalid_argument, "container: its name and path");
}

static int
add_shown(const char *const *args, size_t n, struct err *e)
{
	if (n != 1 || programs.shown != NULL)
		return err_set(e, ERR_invalid_argument, "show: one path");
	programs.shown = args[0];
	return 0;
}

static int
set_state(const char *const *args, size_t n, struct err *e)
{
	if (n != 1)
		return err_set(e, ERR_invalid_argument, "state: one path");
	slot_set_state(args[0]);
	return 0;
}

static const struct {
	const char *word;
	int (*take)(const char *const *args, size_t n, struct err *);
} groups[] = {
	{ "runtime", add_runtime },
	{ "python", set_python },
	{ "zygote", add_zygote },
	{ "container", add_container },
	{ "show", add_shown },
	{ "state", set_state },
};

static int
take_group(const char *word, const char *const *args, size_t n, struct err *e)
{
	for (size_t i = 0; i < COUNT(groups); i++)
		if (strcmp(groups[i].word, word) == 0)
			return groups[i].take(args, n, e);
	return err_set(e, ERR_invalid_argument, "%.32s: not known", word);
}

int
program_settings(int argc, char **argv, struct err *e)
{
	const char *const *args = (const char *const *)argv;
	int end;

	for (int at = 0; at < argc; at = end + 1) {
		for (end = at; end < argc && strcmp(args[end], "--") != 0; end++)
			;
		if (end == at || take_group(args[at], args + at + 1, (size_t)(end - at - 1), e) < 0)
			return err_add(e, "the builder's command line");
	}
	return 0;
}

/* Also searches a word that is passed to a shell. */
static bool
is_in_words(const char *const *words, const char *directory)
{
	size_t size = strlen(directory);

	for (; *words != NULL; words++)
		for (const char *at = *words; (at = strstr(at, directory)) != NULL; at += size)
			if (at[size] == '/')
				return true;
	return false;
}

bool
program_wants(const char *directory)
{
	if (programs.shown != NULL && strcmp(programs.shown, directory) == 0)
		return true;
	for (size_t i = 0; i < programs.nruntimes; i++)
		if (is_in_words(runtimes[i].argv, directory))
			return true;
	return launcher_is_below(directory);
}

int
program_open(const struct host *host, struct err *e)
{
	static const unsigned who[language_COUNT] = {
		[language_python] = FILTER_PYTHON,
		[language_node] = FILTER_NODE,
		[language_shell] = FILTER_SHELL,
	};
	unsigned grouped = (cgroup_limits_by() == LIMITS_RLIMIT ? 0 : FILTER_COUNTED) |
	                   (cgroup_shares_processors() ? FILTER_SHARING : 0);

	programs.host = host;
	programs.own_pids = host_space(host, HOST_PID, e);
	pid_t pid = -1;
	int sock;

	if (programs.own_pids < 0)
		return -1;
	for (int l = 0; l < language_COUNT; l++)
		if (filter_make(&programs.guests[l], who[l] | grouped, e) < 0)
			return -1;
	zygotes_open(host, &programs.guests[language_python]);
	if (launcher_open(host, programs.guests, &pid, &sock, e) < 0)
		return -1;
	zygotes_set_launcher(pid, sock);
	return 0;
}

const char *const *
program_command(uint32_t runtime, const char **extension)
{
	*extension = runtimes[runtime].extension;
	return runtimes[runtime].argv;
}

int
program_check(const struct order *order, struct err *e)
{
	if (order->runtime >= programs.nruntimes || !zygotes_have(order->zygote))
		return err_set(e, ERR_invalid_argument, "runtime or zygote: there is no such");

	const char *path = runtimes[order->runtime].argv[0];

	if (path == NULL || access(path, X_OK) < 0)
		return err_set(e, ERR_runtime_missing, "this host has no program for it: %s",
		    path != NULL ? path : "none is known");
	return 0;
}

/* ---- the end ---- */

/* A process that joins a box cannot report if the box dies meanwhile. */
static void
finish(struct life *life)
{
	if (life->answer.kind == 0)
		err_set(&life->answer.error, ERR_unavailable,
		    "the box ended before the program was started (status %d)",
		    life->answer.status);
	life_end(life);
}

static void
note_status(struct life *life, int status, const struct rusage *usage)
{
	life->answer.status = status;
	life->reaped = true;
	use_add(life->box, usage);
	if (life->zombie)
		finish(life);
}

/* A zygote's child is not this process's to wait for.  The zygote reports it, unless the zygote
 * ended before. */
static void
ask_status(struct life *life)
{
	struct rusage usage;
	int status;

	if (life->reaped) {
		finish(life);
	} else if (wait4(life->pid, &status, WNOHANG, &usage) == life->pid) {
		note_status(life, status, &usage);
	} else if (life->order.zygote == 0) {
		err_set(&life->answer.error, ERR_internal,
		    "how it ended is not known, for its zygote ended with it");
		finish(life);
	} else {
		zygotes_expect(life->order.zygote);
	}
}

static void
on_end(void *self, uint32_t events)
{
	struct life *life = self;

	(void)events;
	life_listen(life);
	life_forget(life);
	life->zombie = true;
	if (life->order.alone != 0)
		life_kill(life->box);
	ask_status(life);
}

static bool
is_of(const struct life *life, uint32_t zygote)
{
	return life != NULL && life->order.kind == ORDER_PROGRAM && life->order.zygote == zygote;
}

void
program_reaped_by(uint32_t zygote, pid_t pid, int status, const struct rusage *usage)
{
	for (uint32_t id = 1; id <= ORDER_MAX_LIVING; id++)
		if (is_of(life_of(id), zygote) && life_of(id)->pid == pid && !life_of(id)->reaped) {
			note_status(life_of(id), status, usage);
			return;
		}
}

/* Processes that it started are now this process's children, and not those of its replacement. */
void
program_zygote_ended(uint32_t zygote)
{
	for (uint32_t id = 1; id <= ORDER_MAX_LIVING; id++) {
		struct life *life = life_of(id);

		if (!is_of(life, zygote) || life->pid <= 0)
			continue;
		life->order.zygote = 0;
		if (life->zombie)
			ask_status(life);
	}
}

/* ---- the beginning ---- */

static void
run(const struct interpreter *r, uint64_t cpu_milli)
{
	const char *argv[MAX_ARGS + 2] = { 0 };
	size_t n = 0;

	for (; r->argv[n] != NULL; n++)
		argv[n] = r->argv[n];
	if (r->extension != NULL && (argv[n] = code_file_await(r->extension)) == NULL)
		_exit(126);
	must(argv[0] != NULL);
	execve(argv[0], (char *const *)(uintptr_t)argv,
	    (char *const *)(uintptr_t)environment_make(cpu_milli));
	_exit(127);
}

/* Forks into the box's pid namespace, because a process can only enter one when it is created. */
static pid_t
clone_into(const struct life *box, int *pidfd, struct err *e)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
	};

	if (box->group.into >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)box->group.into;
	}
	if (setns(box->spaces[HOST_PID], CLONE_NEWPID) < 0)
		return err_sys(e, "enter the box's pid namespace");

	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);

	if (pid != 0)
		must(setns(programs.own_pids, CLONE_NEWPID) == 0);
	return pid < 0 ? err_sys(e, "clone") : pid;
}

/* r NULL: the process ends as soon as all layers are in force. */
static int
start(struct life *life, const struct interpreter *r, struct err *e)
{
	struct life *box = life->box;
	uint32_t language = life->order.runtime;
	struct confine confine = {
		.kind = CONFINE_PROGRAM,
		.host = programs.host,
		.order = &box->order,
		.group = &box->group,
		.filter = &programs.guests[language < language_COUNT ? language : language_shell],
		.workspace = -1,
		.tmp = -1,
		.due = programs.due,
	};
	int report[2];

	memcpy(confine.spaces, box->spaces, sizeof confine.spaces);
	memcpy(confine.fds, life->fds, sizeof confine.fds);
	if (cgroup_open_doors(&box->group, true, e) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, report) < 0) {
		cgroup_settle(&box->group);
		return err_sys(e, "socketpair");
	}
	life->report = report[0];
	confine.report = report[1];

	int64_t began = loop_now_us();

	life->pid = clone_into(box, &life->pidfd, e);
	if (life->pid == 0) {
		confine_enter(&confine);
		if (r == NULL)
			_exit(0);
		run(r, box->order.cpu_milli);
	}
	life->answer.step_us[STEP_clone] = (uint32_t)(loop_now_us() - began);
	close(report[1]);
	cgroup_settle(&box->group);
	return life->pid < 0 ? -1 : 0;
}

static void
close_fds(struct life *life)
{
	for (size_t i = 0; i < COUNT(life->fds); i++)
		if (life->fds[i] >= 0)
			close(take_fd(&life->fds[i]));
}

static void
start_from_file(struct life *life)
{
	struct err e;
	bool contained = life->box->order.container != 0;
	int r;

	life->answer.cold = true;
	if (contained)
		r = err_set(&e, ERR_isolation_unavailable,
		    "use_container: containers cannot be started any more");
	else
		r = start(life, &runtimes[life->order.runtime], &e);
	if (r < 0) {
		if (life->order.alone != 0)
			life_kill(life->box);
		life_fail(life, &e);
		return;
	}
	close_fds(life);
	life_watch(life, on_end);
}

void
program_start(struct life *life)
{
	life->answer.cold = life->box->order.container != 0;
	if (life->box->order.container != 0)
		life->order.zygote = ZYGOTES_LAUNCHER;
	if (life->order.zygote == 0 || zygotes_ask(life) < 0)
		start_from_file(life);
}

void
program_born(struct life *life, pid_t pid, int pidfd)
{
	if (pid < 0) {
		if (life->report >= 0)
			close(take_fd(&life->report));
		life->order.zygote = 0;
		start_from_file(life);
		return;
	}
	life->pid = pid;
	life->pidfd = pidfd;
	close_fds(life);
	life_watch(life, on_end);
}

void
program_lost(struct life *life)
{
	life->answer.status = SIGKILL;
	life_kill(life->box);
	life_end(life);
}

uint64_t
program_due(void)
{
	return programs.due;
}

/* ---- a box as a whole ---- */

static bool
is_in(const struct life *life, const struct life *box)
{
	return life != NULL && life->order.kind == ORDER_PROGRAM && life->box == box;
}

static size_t
first_processes(const struct life *box, pid_t pids[MAX_COUNTED])
{
	size_t n = 1;

	pids[0] = box->pid;
	for (uint32_t id = 1; id <= ORDER_MAX_LIVING && n < MAX_COUNTED; id++)
		if (is_in(life_of(id), box) && life_of(id)->pid > 0)
			pids[n++] = life_of(id)->pid;
	return n;
}

uint64_t
program_memory(const struct life *box, uint64_t enough)
{
	pid_t pids[MAX_COUNTED];
	size_t n = first_processes(box, pids);

	return census_memory(programs.host->proc, pids, n, enough);
}

uint64_t
program_cpu_us(const struct life *box)
{
	pid_t pids[MAX_COUNTED];
	size_t n = first_processes(box, pids);

	return box->used_us + census_cpu_us(programs.host->proc, pids, n);
}

/* ---- the first ---- */

int
program_try(struct life *life, struct layers *layers, struct err *e)
{
	auto_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int r;

	for (size_t i = 0; i < COUNT(life->fds); i++)
		life->fds[i] = fcntl(null, F_DUPFD_CLOEXEC, 0);
	if (start(life, NULL, e) < 0)
		return -1;
	r = trial_await(life, e);
	*layers = life->answer.layers;
	if (r == 0)
		programs.due = layers->in_force;
	life_kill(life);
	while (waitpid(life->pid, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}
