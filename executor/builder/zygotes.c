/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zygotes.c - starts zygotes and sends them requests to fork.
 *
 * Theory of operation.  A zygote is started by exec with this process's capabilities made ambient,
 * inside the template of all boxes.  It is our own program (guest/python/zygote.py), and no byte
 * of a guest ever reaches it.  It answers orders in sequence.  Few are pending at once, because
 * the kernel limits descriptors in flight.  If a zygote dies, waiting programs are started from
 * their file, its children are reparented to this process, and the next order starts another
 * zygote.
 *
 * Between a fork and its report there may be a child whose pid is unknown, with a program's
 * descriptors.  No second process may use these, so the box of that program is killed.  A box ends
 * only after all its processes were waited for, so this process searches for such children.
 *
 * Trusts a zygote as much as itself.
 */
#include "executor/builder/zygotes.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "executor/builder/confine/caps.h"
#include "executor/builder/launch/environment.h"
#include "executor/builder/launch/zygote.h"
#include "executor/builder/processes.h"
#include "executor/builder/program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
	UNDER_WAY = 6,
	/* Libraries use the pid to seed their random states.  No program in a box has a pid in
	 * this range. */
	FIRST_PID = 20000,
	PAUSE_MS = 1000,       /* before one that died is restarted, */
	LONG_PAUSE_MS = 60000, /* or one that had to be killed */
	SILENT_MS = 20000,     /* until it is killed; no waiting program is given up before, see
	                          box/program.h */
	STRAYS_MS = 20,        /* interval between two searches for unreported children */
};

struct zygote {
	const char *python, *modules;
	pid_t pid;
	int sock; /* -1: it is not running */
	bool watched, ready;
	int64_t not_before_ms;
	unsigned starts, under_way;
	uint64_t patience;             /* a timer, while a message is expected from it */
	struct process *first, **last; /* programs that wait for a fork, oldest first; under_way
	                                  of them were requested */
};

static struct {
	const struct host *host;
	int start; /* a file that each zygote reads */
	struct zygote all[ZYGOTES_LAUNCHER];
	size_t count;
	uint64_t strays; /* a timer, while there may be unreported children */
} zygotes = { .start = -1 };

int
zygotes_add(const char *python, const char *modules, struct err *e)
{
	if (zygotes.count == ORDER_MAX_ZYGOTES)
		return err_set(e, ERR_invalid_argument, "more than %d zygotes", ORDER_MAX_ZYGOTES);
	zygotes.all[zygotes.count++] =
	    (struct zygote){ .python = python, .modules = modules, .sock = -1 };
	return 0;
}

void
zygotes_open(const struct host *host, const struct filter *filter)
{
	static struct zygote_start start;
	struct err e;

	zygotes.host = host;
	start.host = *host;
	start.host.proc = ZYGOTE_PROC;
	start.filter = *filter;
	zygotes.start = memfd_create("zygote", MFD_CLOEXEC);
	if (zygotes.start < 0 || fdio_write(zygotes.start, &start, sizeof start, &e) < 0)
		log_warn("zygotes are not available", LOG_N("errno", errno));
	for (size_t i = 0; i < COUNT(zygotes.all); i++) {
		zygotes.all[i].sock = -1;
		zygotes.all[i].last = &zygotes.all[i].first;
	}
}

void
zygotes_set_launcher(pid_t pid, int sock)
{
	struct zygote *launcher = &zygotes.all[ZYGOTES_LAUNCHER - 1];

	launcher->modules = "of containers";
	launcher->pid = pid;
	launcher->sock = sock;
	launcher->ready = true; /* it has nothing to import */
}

bool
zygotes_have(uint32_t number)
{
	return number <= zygotes.count;
}

/* ---- starting one ---- */

/* A zygote has its own /tmp, because libraries such as matplotlib write files while they are
 * imported. */
static int
mount_tmp(void)
{
	auto_fd int context = fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (context < 0 || fsconfig(context, FSCONFIG_SET_STRING, "size", "16m", 0) < 0 ||
	    fsconfig(context, FSCONFIG_SET_STRING, "mode", "0700", 0) < 0 ||
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;

	auto_fd int tmp = fsmount(
	    context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);

	return tmp < 0 ? -1 : move_mount(tmp, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH);
}

/*
 * The forks must find the signal handlers of a newly started process, and so must the interpreter,
 * which remembers what it found, and all processes that an import starts.  But signals that a
 * terminal sends to the whole group are not for the zygote.
 */
static void
take_plain_signals(void)
{
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
}

static void
become(const struct zygote *z, int sock)
{
	const char *const argv[] = { z->python, "-I", "-B", "/cloister/python/zygote.py",
		z->modules, NULL };
	if (mount_tmp() < 0)
		_exit(126);
	/* First moves the descriptors out of each other's way, then to their places. */
	int from[] = { open("/dev/null", O_RDWR), 2, sock, zygotes.start, zygotes.host->proc };
	const int to[] = { 0, 2, ZYGOTE_SOCKET, ZYGOTE_START, ZYGOTE_PROC };

	for (size_t i = 0; i < COUNT(from); i++)
		from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 64);
	for (size_t i = 0; i < COUNT(from); i++)
		if (from[i] < 0 || dup2(from[i], to[i]) < 0)
			_exit(126);
	dup2(0, 1);
	take_plain_signals();
	if (close_range(ZYGOTE_PROC + 1, ~0u, 0) < 0 || caps_pass_on() < 0 || chdir("/") < 0)
		_exit(126);
	execve(z->python, (char *const *)(uintptr_t)argv,
	    (char *const *)(uintptr_t)environment_make(0, z->python, NULL));
	_exit(127);
}

/* Forks with a pid that is not in use, or in the normal way if the kernel does not allow
 * choosing the pid. */
static pid_t
clone_zygote(const struct zygote *z)
{
	pid_t pid = FIRST_PID + (pid_t)(z - zygotes.all) + (pid_t)(z->starts % 64) * 16;
	struct clone_args args = {
		.flags = CLONE_NEWNS,
		.exit_signal = SIGCHLD,
		.set_tid = (uint64_t)(uintptr_t)&pid,
		.set_tid_size = 1,
	};
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof args);

	if (child >= 0)
		return child;
	args.set_tid = args.set_tid_size = 0;
	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

/* It hangs in an import, or was stopped.  It is treated like one that died. */
static void
on_silence(void *self)
{
	struct zygote *z = self;

	log_warn("a zygote does not answer", LOG_S("modules", z->modules));
	z->patience = 0;
	z->not_before_ms = loop_now_ms() + LONG_PAUSE_MS;
	kill(z->pid, SIGKILL);
}

/* Applies while it imports or has forks to do, from its last message on. */
static void
be_patient(struct zygote *z)
{
	bool due = !z->ready || z->under_way > 0;

	loop_unset(z->patience);
	z->patience = due ? loop_after(SILENT_MS, on_silence, z) : 0;
}

static void on_word(void *self, uint32_t events);

static int
start(struct zygote *z, struct err *e)
{
	int pair[2];

	if (z->python == NULL || zygotes.start < 0 || loop_now_ms() < z->not_before_ms)
		return err_set(e, ERR_unavailable, "no zygote is available now");
	z->not_before_ms = loop_now_ms() + PAUSE_MS;
	z->starts++;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "socketpair");
	z->pid = clone_zygote(z);
	if (z->pid == 0)
		become(z, pair[1]);
	close(pair[1]);
	z->sock = pair[0];
	z->ready = false;
	if (z->pid > 0) {
		be_patient(z);
		return 0;
	}
	close(take_fd(&z->sock));
	return err_set(e, ERR_unavailable, "no zygote can be started");
}

static int
attend(struct zygote *z, struct err *e)
{
	if (z->sock < 0 && start(z, e) < 0)
		return -1;
	if (!z->watched && loop_watch(z->sock, EPOLLIN, on_word, z, e) < 0)
		return -1;
	z->watched = true;
	return 0;
}

/* ---- asking it ---- */

/* Fills in the descriptors of a request, in the order of zygote.h.  Returns their number. */
static size_t
gather_fds(struct zygote_order *order, const struct program *program, int report, int *fds)
{
	const struct box *box = box_of(program->process.box);
	size_t n = 0;

	for (size_t i = 0; i < ORDER_MAX_FDS; i++)
		fds[n++] = program->fds[i];
	fds[n++] = report;
	for (int h = 0; h < HOST_NAMESPACES; h++)
		if (box->spaces[h] >= 0) {
			order->spaces |= 1u << h;
			fds[n++] = box->spaces[h];
		}
	for (size_t i = 0; i < box->process.group.njoin; i++)
		fds[n++] = box->process.group.join[i];
	return n;
}

static int
ask(const struct zygote *z, struct program *program, struct err *e)
{
	struct process *box = program->process.box;
	struct zygote_order order = { .order = box->order, .due = zygotes.host->due };
	int fds[ZYGOTE_MAX_FDS], report[2];

	if (cgroup_open_doors(&box->group, false, e) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, report) < 0) {
		cgroup_settle(&box->group);
		return err_sys(e, "socketpair");
	}
	order.group = box->group;
	order.order.runtime = program->process.order.runtime;

	size_t n = gather_fds(&order, program, report[1], fds);
	ssize_t sent = fdio_send(z->sock, &order, sizeof order, fds, n);

	cgroup_settle(&box->group);
	close(report[1]);
	program->process.report = report[0];
	return sent < 0 ? err_sys(e, "ask a zygote") : 0;
}

static struct program *
take_at(struct zygote *z, struct process **at)
{
	struct process *p = *at;

	*at = take_ptr(p->next);
	if (*at == NULL)
		z->last = at;
	return program_of(p);
}

static struct program *
take_first(struct zygote *z)
{
	return take_at(z, &z->first);
}

/* A failure to send is usually not the zygote's fault: this process has no descriptor left, or
 * the kernel passes none.  If the zygote has died, that is noticed soon. */
static void
send_orders(struct zygote *z)
{
	struct err e;

	while (z->under_way < UNDER_WAY) {
		struct process **at = &z->first;

		for (unsigned i = 0; i < z->under_way && *at != NULL; i++)
			at = &(*at)->next;
		if (*at == NULL)
			return;
		if (ask(z, program_of(*at), &e) < 0) {
			log_warn("a request to a zygote was not sent", LOG_E(&e));
			program_forked(take_at(z, at), -1, -1);
			continue;
		}
		z->under_way++;
		if (z->patience == 0)
			be_patient(z);
	}
}

static int
fork_program(struct program *program)
{
	struct process *p = &program->process;
	struct err e;

	if (p->box->order.container != 0)
		p->order.zygote = ZYGOTES_LAUNCHER;

	struct zygote *z = &zygotes.all[p->order.zygote - 1];

	if (attend(z, &e) < 0)
		return -1;
	p->next = NULL;
	*z->last = p;
	z->last = &p->next;
	send_orders(z);
	return 0;
}

/* ---- what it says ---- */

static void
on_born(struct zygote *z, const struct zygote_word *word, int pidfd)
{
	if (z->under_way == 0)
		return;
	z->under_way--;
	if (word->pid > 0 && pidfd < 0)
		program_lost(take_first(z));
	else
		program_forked(take_first(z), word->pid, pidfd);
	send_orders(z);
}

/* ---- its end ---- */

static bool
is_known(pid_t pid)
{
	struct process *p;

	for (size_t i = 0; i < COUNT(zygotes.all); i++)
		if (zygotes.all[i].sock >= 0 && zygotes.all[i].pid == pid)
			return true;
	for (uint32_t id = 0; (p = processes_next(&id)) != NULL;)
		if (p->pid == pid)
			return true;
	return false;
}

static bool
may_have_strays(void)
{
	struct process *p;

	for (uint32_t id = 0; (p = processes_next(&id)) != NULL;)
		if (box_of(p) != NULL && box_of(p)->strays)
			return true;
	return false;
}

/* A known child is soon waited for by its owner.  Children after it are found by the next
 * search. */
static void
bury_strays(void *self)
{
	siginfo_t end = { 0 };

	(void)self;
	while (waitid(P_ALL, 0, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid > 0 &&
	       !is_known(end.si_pid)) {
		waitpid(end.si_pid, NULL, 0);
		end = (siginfo_t){ 0 };
	}
	zygotes.strays = may_have_strays() ? loop_after(STRAYS_MS, bury_strays, NULL) : 0;
}

/* True if a fork has received its descriptors, or has reported.  The zygote and its socket no
 * longer exist. */
static bool
is_held(const struct program *program)
{
	char said;

	return recv(program->process.report, &said, sizeof said, MSG_PEEK | MSG_DONTWAIT) != 0;
}

/* The fork was requested, and no report about it will come. */
static void
give_up(struct zygote *z)
{
	struct program *program = take_first(z);

	box_of(program->process.box)->strays = true;
	if (zygotes.strays == 0)
		zygotes.strays = loop_after(0, bury_strays, NULL);
	is_held(program) ? program_lost(program) : program_forked(program, -1, -1);
}

static void
lose(struct zygote *z)
{
	unsigned asked = z->under_way;

	log_warn("a zygote ended", LOG_S("modules", z->modules));
	loop_forget(z->sock);
	z->watched = false;
	close(take_fd(&z->sock));
	z->under_way = 0;
	loop_unset(z->patience);
	z->patience = 0;
	kill(z->pid, SIGKILL);
	while (waitpid(z->pid, NULL, 0) < 0 && errno == EINTR)
		;
	program_zygote_ended((uint32_t)(z - zygotes.all) + 1);
	for (; asked > 0; asked--)
		give_up(z);
	while (z->first != NULL)
		program_forked(take_first(z), -1, -1);
}

static void
on_word(void *self, uint32_t events)
{
	struct zygote *z = self;
	struct zygote_word word;
	int pidfd = -1;
	size_t nfds = 1;
	ssize_t n = fdio_receive(z->sock, &word, sizeof word, &pidfd, &nfds, MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* EMFILE: the message was received, and the descriptors that came with it are lost. */
	if (n != (ssize_t)sizeof word && (n >= 0 || errno != EMFILE)) {
		lose(z);
		return;
	}
	z->ready = true;
	if (word.said == ZYGOTE_BORN)
		on_born(z, &word, nfds > 0 ? pidfd : -1);
	else if (word.said == ZYGOTE_REAPED)
		program_reaped_by(
		    (uint32_t)(z - zygotes.all) + 1, word.pid, word.status, &word.usage);
	be_patient(z);
}

static void
expect(uint32_t number)
{
	struct zygote *z = &zygotes.all[number - 1];

	if (z->patience == 0 && z->sock >= 0)
		z->patience = loop_after(SILENT_MS, on_silence, z);
}

void
zygotes_kill(void)
{
	/* A builder that failed early has none, and kill() with pid 0 would signal its own
	 * process group. */
	for (size_t i = 0; i < COUNT(zygotes.all); i++)
		if (zygotes.all[i].pid > 0 && zygotes.all[i].sock >= 0)
			kill(zygotes.all[i].pid, SIGKILL);
}

const struct program_forker zygotes_forker = { fork_program, expect };
