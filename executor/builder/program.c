/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - programs in boxes, from start to exit status.
 *
 * Theory of operation.  A program is a child of this process, or a fork of a zygote that sends its
 * pidfd.  In both cases it is in the box's pid namespace from the beginning and so ends with the
 * box.  Its pidfd signals its end.  Its status is read by its parent: this process, or the zygote,
 * which reports it.  The box cannot end before that was done.
 *
 * A program whose order says so ends its box with it.
 *
 * Trusts zygotes.
 */
#include "executor/builder/program.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/table/schema.h"
#include "executor/builder/launch/code_file.h"
#include "executor/builder/launch/environment.h"
#include "executor/builder/processes.h"
#include "executor/builder/runtimes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct {
	const struct host *host;
	const struct program_forker *forker;
	struct filter filters[language_COUNT];
	int own_pids; /* the builder's pid namespace */
} programs;

int
program_open(const struct host *host, const struct program_forker *forker, struct err *e)
{
	static const unsigned who[language_COUNT] = {
		[language_python] = FILTER_PYTHON,
		[language_node] = FILTER_NODE,
		[language_shell] = FILTER_SHELL,
	};
	unsigned grouped = (cgroup_limits_by() == LIMITS_RLIMIT ? 0 : FILTER_COUNTED) |
	                   (cgroup_shares_processors() ? FILTER_SHARING : 0) |
	                   (host->loopback ? FILTER_LOOPBACK : 0);

	programs.host = host;
	programs.forker = forker;
	programs.own_pids = host_space(host, HOST_PID, e);
	if (programs.own_pids < 0)
		return -1;
	for (int l = 0; l < language_COUNT; l++)
		if (filter_make(&programs.filters[l], who[l] | grouped, e) < 0)
			return -1;
	return 0;
}

const struct filter *
program_filters(void)
{
	return programs.filters;
}

struct program *
program_of(struct process *p)
{
	must(p->kind == &program_kind);
	return (struct program *)p;
}

/* ---- the end ---- */

static void
close_fds(struct process *p)
{
	struct program *program = program_of(p);

	for (size_t i = 0; i < COUNT(program->fds); i++)
		if (program->fds[i] >= 0)
			close(take_fd(&program->fds[i]));
}

/* A process that joins a box cannot report if the box dies meanwhile. */
static void
finish(struct process *p)
{
	if (p->answer.kind == 0)
		err_set(&p->answer.error, ERR_unavailable,
		    "the box ended before the program was started (status %d)", p->answer.status);
	process_end(p);
}

static void
note_status(struct program *program, int status, const struct rusage *usage)
{
	struct process *p = &program->process;

	p->answer.status = status;
	program->reaped = true;
	use_add(&p->box->use, usage);
	if (program->zombie)
		finish(p);
}

/* A zygote's child is not this process's to wait for.  The zygote reports it, unless the zygote
 * ended before. */
static void
ask_status(struct program *program)
{
	struct process *p = &program->process;
	struct rusage usage;
	int status;

	if (program->reaped) {
		finish(p);
	} else if (wait4(p->pid, &status, WNOHANG, &usage) == p->pid) {
		note_status(program, status, &usage);
	} else if (p->order.zygote == 0) {
		err_set(&p->answer.error, ERR_internal,
		    "how it ended is not known, for its zygote ended with it");
		finish(p);
	} else {
		programs.forker->expect(p->order.zygote);
	}
}

static void
ended(struct process *p)
{
	struct program *program = program_of(p);

	process_listen(p);
	process_forget(p);
	program->zombie = true;
	if (p->order.alone != 0)
		box_end_soon(box_of(p->box));
	ask_status(program);
}

static bool
is_of(const struct process *p, uint32_t zygote)
{
	return p->kind == &program_kind && p->order.zygote == zygote && p->pid > 0;
}

void
program_reaped_by(uint32_t zygote, pid_t pid, int status, const struct rusage *usage)
{
	struct process *p;

	for (uint32_t id = 0; (p = processes_next(&id)) != NULL;)
		if (is_of(p, zygote) && p->pid == pid && !program_of(p)->reaped) {
			note_status(program_of(p), status, usage);
			return;
		}
}

/* Processes that it started are now this process's children, and not those of its replacement. */
void
program_zygote_ended(uint32_t zygote)
{
	struct process *p;

	for (uint32_t id = 0; (p = processes_next(&id)) != NULL;) {
		if (!is_of(p, zygote))
			continue;
		p->order.zygote = 0;
		if (program_of(p)->zombie)
			ask_status(program_of(p));
	}
}

/* ---- signals ---- */

/* An interrupt is also for the processes that a program waits for, as at a terminal: a shell
 * does not handle it before its child has ended.  The program has its own process group
 * (confine.c).  On kernels before 6.9 the group is signalled by number, which is safe if the
 * program is this process's child and so keeps the number in use. */
static void
interrupt(const struct program *program)
{
	const unsigned process_group = 1 << 2; /* PIDFD_SIGNAL_PROCESS_GROUP */
	const struct process *p = &program->process;

	if (syscall(SYS_pidfd_send_signal, p->pidfd, SIGINT, NULL, process_group) == 0)
		return;
	if (p->order.zygote == 0 && !program->reaped && p->pid > 1 && kill(-p->pid, SIGINT) == 0)
		return;
	syscall(SYS_pidfd_send_signal, p->pidfd, SIGINT, NULL, 0);
}

void
program_signal(struct program *program, int signal)
{
	struct process *p = &program->process;

	if (signal == SIGINT && p->pidfd >= 0)
		interrupt(program);
	if (signal == SIGURG && p->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, p->pidfd, SIGURG, NULL, 0);
	if (signal != SIGKILL)
		return;
	process_kill(p);
	if (p->box->order.container != 0)
		process_kill(p->box); /* only this ends the other processes of a container */
}

/* ---- from its file ---- */

static void
run(const struct program *program)
{
	const char *argv[RUNTIMES_MAX_ARGS + 2] = { 0 }, *extension;
	const struct order *box = &program->process.box->order;
	uint32_t runtime = program->process.order.runtime;
	const char *const *command = runtimes_command(runtime, box->environment, &extension);
	size_t n = 0;

	for (; command[n] != NULL; n++)
		argv[n] = command[n];
	if (extension != NULL && (argv[n] = code_file_await(extension)) == NULL)
		_exit(126);
	must(argv[0] != NULL);
	execve(argv[0], (char *const *)(uintptr_t)argv,
	    (char *const *)(uintptr_t)environment_make(
		box->cpu_milli, runtimes_python(box->environment), runtimes_variable(runtime)));
	_exit(127);
}

static void
run_nothing(const struct program *program)
{
	(void)program;
	_exit(0);
}

/* Forks into the box's pid namespace, because a process can only enter one when it is created. */
static pid_t
clone_into(const struct box *box, int *pidfd, struct err *e)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
	};

	if (box->process.group.into >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)box->process.group.into;
	}
	if (setns(box->spaces[HOST_PID], CLONE_NEWPID) < 0)
		return err_sys(e, "enter the box's pid namespace");

	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);

	if (pid != 0)
		must(setns(programs.own_pids, CLONE_NEWPID) == 0);
	return pid < 0 ? err_sys(e, "clone") : pid;
}

static struct confine
confine_of(const struct program *program, const struct box *box)
{
	uint32_t language = program->process.order.runtime;
	struct confine confine = {
		.kind = CONFINE_PROGRAM,
		.host = programs.host,
		.order = &box->process.order,
		.group = &box->process.group,
		.filter = &programs.filters[language < language_COUNT ? language : language_shell],
		.workspace = -1,
		.tmp = -1,
		.due = programs.host->due,
	};

	memcpy(confine.spaces, box->spaces, sizeof confine.spaces);
	memcpy(confine.fds, program->fds, sizeof confine.fds);
	return confine;
}

static int
start(struct program *program, void (*then)(const struct program *), struct err *e)
{
	struct process *p = &program->process;
	struct confine confine = confine_of(program, box_of(p->box));
	int report[2];

	if (cgroup_open_doors(&p->box->group, true, e) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, report) < 0) {
		cgroup_settle(&p->box->group);
		return err_sys(e, "socketpair");
	}
	p->report = report[0];
	confine.report = report[1];

	int64_t began = loop_now_us();

	p->pid = clone_into(box_of(p->box), &p->pidfd, e);
	if (p->pid == 0) {
		confine_enter(&confine);
		then(program);
	}
	p->answer.step_us[STEP_clone] = (uint32_t)(loop_now_us() - began);
	close(report[1]);
	cgroup_settle(&p->box->group);
	return p->pid < 0 ? -1 : 0;
}

static void
start_from_file(struct program *program)
{
	struct process *p = &program->process;
	struct err e;
	int r;

	p->answer.cold = true;
	if (p->box->order.container != 0)
		r = err_set(&e, ERR_isolation_unavailable,
		    "use_container: containers cannot be started any more");
	else
		r = start(program, run, &e);
	if (r < 0) {
		if (p->order.alone != 0)
			process_kill(p->box);
		process_fail(p, &e);
		return;
	}
	close_fds(p);
	process_watch(p);
}

/* ---- by a fork ---- */

static void
begin(struct process *p)
{
	bool forks = p->order.zygote != 0 || p->box->order.container != 0;

	p->answer.cold = p->box->order.container != 0;
	if (!forks || programs.forker->fork(program_of(p)) < 0)
		start_from_file(program_of(p));
}

void
program_forked(struct program *program, pid_t pid, int pidfd)
{
	struct process *p = &program->process;

	if (pid < 0) {
		if (p->report >= 0)
			close(take_fd(&p->report));
		p->order.zygote = 0;
		start_from_file(program);
		return;
	}
	p->pid = pid;
	p->pidfd = pidfd;
	close_fds(p);
	process_watch(p);
}

void
program_lost(struct program *program)
{
	struct process *p = &program->process;

	p->answer.status = SIGKILL;
	process_kill(p->box);
	process_end(p);
}

/* ---- orders ---- */

static struct program *
new_program(const struct order *order, struct err *e)
{
	struct program *program = (struct program *)process_new(&program_kind, order, e);

	for (size_t i = 0; program != NULL && i < COUNT(program->fds); i++)
		program->fds[i] = -1;
	return program;
}

int
program_order(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	struct box *box = box_of(processes_find(order->box));
	struct program *program;

	if (box == NULL || box->process.dead)
		return err_set(e, ERR_unavailable, "box: %u is gone", order->box);
	if (runtimes_check(order->runtime, box->process.order.environment, e) < 0 ||
	    (program = new_program(order, e)) == NULL)
		return -1;
	for (size_t i = 0; i < nfds; i++)
		program->fds[i] = take_fd(&fds[i]);
	if (box_join(box, &program->process))
		begin(&program->process);
	return 0;
}

struct program *
program_probe(struct box *box, struct err *e)
{
	const struct order order = { .kind = ORDER_PROGRAM, .box = box->process.order.id };
	auto_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct program *program = new_program(&order, e);

	if (program == NULL)
		return NULL;
	program->process.box = &box->process;
	for (size_t i = 0; i < COUNT(program->fds); i++)
		program->fds[i] = fcntl(null, F_DUPFD_CLOEXEC, 0);
	if (start(program, run_nothing, e) == 0)
		return program;
	process_free(&program->process);
	return NULL;
}

const struct process_kind program_kind = {
	.size = sizeof(struct program),
	.filters = 1,
	.begin = begin,
	.started = process_tell_started,
	.ended = ended,
	.close = close_fds,
};
