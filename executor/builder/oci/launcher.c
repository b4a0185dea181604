/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.c - the OCI launcher: for each order of the builder it starts a process in the box,
 * which runs a container runtime there and exits with the runtime's status.
 *
 * Theory of operation.  A box is made as for any program (spawn.c): cgroups, namespaces, mounts, a
 * pid 1 whose end ends all processes.  The process started here joins them with root's
 * capabilities, takes a private copy of the mounts, makes a bundle there and runs the runtime in
 * it.  So all processes, mounts and files that a runtime makes end with the box, without any
 * cleanup.  The runtime's child becomes the container.  Its layers are read back here (look.c)
 * before it is reported to the builder as isolated, and the executor sends no code before that.
 *
 * These processes are children of the builder, so that it gets their statuses.
 *
 * Trusts the builder, and trusts the runtimes not to help the guest.  The box's own layers confine
 * everything that they make.
 */
#include "executor/builder/oci/launcher.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "executor/builder/confine/caps.h"
#include "executor/builder/containers.h"
#include "executor/builder/launch/zygote.h"
#include "executor/builder/oci/bundle.h"
#include "executor/builder/oci/look.h"
#include "executor/builder/runtimes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum {
	MAX_ARGS = 24,
	LOOK_NS = 1000000, /* interval between two checks of a container that is being made */
	LOG_BYTES = 400,
};

/* clang-format off */
static struct starter {
	const char *name, *path;
	int control;
	bool detached;
	uint64_t memory_mib, processes, times;
	const char *arguments[8];
} starters[CONTAINER_COUNT] = {
#define CONTAINER(name, ...) [CONTAINER_##name] = { #name, NULL, ROW(__VA_ARGS__) },
#define ROW(control, detached, memory_mib, processes, times, ...) \
	control, detached, memory_mib, processes, times, { __VA_ARGS__ }
#include "executor/builder/containers.def"
};
/* clang-format on */

/* Capabilities that the root of a container needs while it is made.  A program ends up with none.
 */
static const int kept[] = { CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_KILL,
	CAP_MKNOD, CAP_NET_ADMIN, CAP_SETFCAP, CAP_SETGID, CAP_SETPCAP, CAP_SETUID, CAP_SYS_ADMIN,
	CAP_SYS_CHROOT, CAP_SYS_PTRACE, CAP_SYS_RESOURCE };

static struct {
	const struct host *host;
	int own_pids, own_filters;
	uint64_t required;           /* by the settings: bits by enum layer */
	int filters[language_COUNT]; /* struct filter, each in a file */
} launcher;

int
launcher_add(const char *name, const char *path, struct err *e)
{
	for (int c = CONTAINER_none + 1; c < CONTAINER_COUNT; c++)
		if (strcmp(starters[c].name, name) == 0) {
			starters[c].path = path;
			return 0;
		}
	return err_set(e, ERR_invalid_argument, "container: %.32s is unknown", name);
}

void
launcher_require(uint64_t layers)
{
	launcher.required = layers;
}

static bool
is_there(uint32_t container)
{
	return container < CONTAINER_COUNT && starters[container].path != NULL;
}

bool
launcher_is_below(const char *directory)
{
	size_t size = strlen(directory);

	for (uint32_t c = 0; c < CONTAINER_COUNT; c++)
		if (is_there(c) && strncmp(starters[c].path, directory, size) == 0 &&
		    starters[c].path[size] == '/')
			return true;
	return false;
}

/* Runtimes must see a complete /proc.  A process that is root only in a user namespace cannot
 * mount a new one. */
int
launcher_check(const struct host *host, uint32_t container, struct err *e)
{
	if (!is_there(container))
		return err_set(e, ERR_isolation_unavailable,
		    "use_container: this runtime was not installed when the server started");
	if (host->mapped)
		return err_set(e, ERR_isolation_unavailable,
		    "use_container: containers require a server that was started as root; leave it "
		    "out to run in a box");
	return 0;
}

void
launcher_make_room(struct order *box)
{
	const struct starter *r = &starters[box->container];

	if (box->container == CONTAINER_none)
		return;
	box->memory_bytes += r->memory_mib << 20;
	box->processes = box->processes * r->times + r->processes;
}

/* ---- in the box ---- */

/* What was received with an order. */
struct landing {
	struct zygote_order order;
	int fds[ZYGOTE_MAX_FDS];
	size_t nfds;
	int program[ORDER_MAX_FDS], report, spaces[HOST_NAMESPACES];
};

static int
join(const struct landing *l, struct err *e)
{
	static const struct {
		enum host_namespace which;
		int type;
	} all[] = {
		{ HOST_CGROUP, CLONE_NEWCGROUP },
		{ HOST_NET, CLONE_NEWNET },
		{ HOST_IPC, CLONE_NEWIPC },
		{ HOST_UTS, CLONE_NEWUTS },
		{ HOST_MNT, CLONE_NEWNS },
	};

	if (cgroup_join(&l->order.group, e) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(all); i++)
		if (l->spaces[all[i].which] >= 0 && setns(l->spaces[all[i].which], all[i].type) < 0)
			return err_sys(e, "join namespace 0x%x", (unsigned)all[i].type);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_sys(e, "take a copy of the mounts");
	return chdir("/") < 0 ? err_sys(e, "enter /") : 0;
}

static int
be_first_to_go(struct err *e)
{
	const struct rlimit core = { 1, 1 };
	auto_fd int file = openat(launcher.host->proc, "self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (file < 0 || write(file, "1000", 4) < 0 || prlimit(0, RLIMIT_CORE, &core, NULL) < 0)
		return err_sys(e, "write /proc/self/oom_score_adj");
	return 0;
}

static void
make_argv(const char *argv[MAX_ARGS], const struct starter *r)
{
	static const char *const common[] = { "--root", BUNDLE_STATE, "--log", BUNDLE_LOG };
	size_t n = 0;

	argv[n++] = r->path;
	for (size_t i = 0; i < COUNT(common); i++)
		argv[n++] = common[i];
	for (size_t i = 0; r->arguments[i] != NULL; i++)
		argv[n++] = r->arguments[i];
	argv[n++] = "run";
	if (r->detached)
		argv[n++] = "--detach";
	if (r->control != 0)
		argv[n++] = "--preserve-fds=2";
	argv[n++] = "--bundle=" BUNDLE;
	argv[n++] = "box";
	argv[n] = NULL;
}

/* First moves the descriptors out of each other's way, then to their places.  Closes all others. */
static int
place(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 64);
	for (size_t i = 0; i < n; i++)
		if (fds[i] < 0 || dup2(fds[i], (int)i) < 0)
			return -1;
	return close_range((unsigned)n, ~0u, 0);
}

static void
exec_runtime(const struct landing *l, const struct starter *r)
{
	static const char *const environment[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" BUNDLE_SANDBOX, "TMPDIR=" BUNDLE_SANDBOX, "XDG_RUNTIME_DIR=" BUNDLE_SANDBOX,
		NULL };
	const char *argv[MAX_ARGS];
	uint32_t language = l->order.order.runtime;
	int filter = launcher.filters[language < language_COUNT ? language : language_shell];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool by_stdin = r->control == 0;
	int fds[] = { by_stdin ? l->program[2] : null, l->program[0], l->program[1], l->program[2],
		filter };

	make_argv(argv, r);
	if (place(fds, by_stdin ? 3 : COUNT(fds)) < 0 || chdir(BUNDLE) < 0)
		_exit(126);
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	setsid();
	execve(r->path, (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)environment);
	_exit(127);
}

static int
lay_down(const struct landing *l, const struct starter *r, struct err *e)
{
	struct bundle bundle = {
		.host = launcher.host,
		.order = &l->order.order,
		.control = r->control,
		.argv = runtimes_command(
		    l->order.order.runtime, l->order.order.environment, &bundle.extension),
		.variable = runtimes_variable(l->order.order.runtime),
	};

	return be_first_to_go(e) < 0 || join(l, e) < 0 || bundle_make(&bundle, e) < 0 ? -1 : 0;
}

/* Reads the runtime's message about its failure.  It is for the operator's log and not for the
 * caller. */
static int
explain(const struct starter *r, int status, struct err *e)
{
	struct blob log = { 0 };
	struct err ignored;
	char text[LOG_BYTES] = "";

	if (fdio_load(AT_FDCWD, BUNDLE_LOG, 1 << 20, &log, &ignored) == 0) {
		size_t n = log.size < sizeof text - 1 ? log.size : sizeof text - 1;

		memcpy(text, log.data, n);
	}
	blob_clear(&log);
	for (char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = ' ';
	log_warn("a container was not started", LOG_S("runtime", r->name),
	    LOG_N("status", (uint64_t)status), LOG_S("log", text));
	return err_set(e, ERR_isolation_unavailable,
	    "use_container: %s did not start a container on this host (status %d); its messages "
	    "are in the server's log",
	    r->name, status);
}

static int
check_layers(const struct layers *layers, struct err *e)
{
	uint64_t needed = launcher.required;

	for (int l = 0; l < LAYER_COUNT; l++)
		if (layer_needed((enum layer)l))
			needed |= layers->wanted & 1ull << l;
	for (int l = 0; l < LAYER_COUNT; l++)
		if ((needed & ~layers->in_force & 1ull << l) != 0)
			return err_set(e, ERR_isolation_unavailable,
			    "use_container: the container lacks a required layer: %s",
			    layer_name((enum layer)l));
	return 0;
}

/* Waits until the container is closed.  A runtime that ends before that and leaves no process
 * has failed. */
static int
await_closed(
    const struct landing *l, pid_t runtime, pid_t *container, struct layers *layers, struct err *e)
{
	const struct timespec pause = { 0, LOOK_NS };
	auto_fd int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct look look = { launcher.host, &l->order.order, &l->order.group,
		launcher.own_filters, { getpid(), runtime }, proc };
	int status = 0;

	if (proc < 0)
		return err_sys(e, "open /proc");
	while ((*container = look_at(&look, layers)) == 0) {
		pid_t ended;

		while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
			;
		if (ended < 0)
			return explain(&starters[l->order.order.container], status, e);
		nanosleep(&pause, NULL);
	}
	layers->limits_by = launcher.host->limits_by;
	layers->container = l->order.order.container;
	return check_layers(layers, e);
}

static pid_t interrupted; /* receives the signals that this process receives */

static void
pass_on(int signal)
{
	kill(interrupted, signal);
}

/* Ends in the same way as the program.  container_init.c reports a signal as a shell does. */
static void
end_as(int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

	if (code > 128 && code < 128 + SIGRTMIN) {
		signal(code - 128, SIG_DFL);
		kill(getpid(), code - 128);
	}
	_exit(code);
}

static int
start(const struct landing *l, const struct starter *r, pid_t *runtime, struct err *e)
{
	if (lay_down(l, r, e) < 0)
		return -1;
	/* Processes that a detached container leaves become children of this process. */
	if (r->detached && prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return err_sys(e, "prctl");
	*runtime = fork();
	if (*runtime == 0)
		exec_runtime(l, r);
	return *runtime < 0 ? err_sys(e, "fork") : 0;
}

/* The control channel stays open until this process ends.  Its end tells the executor that the
 * program is over, and the builder knows this process as the program. */
static void
run(const struct landing *l)
{
	const struct starter *r = &starters[l->order.order.container];
	struct confine_report report = { .said = CONFINE_READY };
	struct err *e = &report.error;
	pid_t runtime = -1, container = 0;
	int status = 0;

	/* An interrupt goes to a whole process group.  The runtime has a separate one. */
	setsid();
	if (start(l, r, &runtime, e) == 0 &&
	    await_closed(l, runtime, &container, &report.layers, e) == 0)
		e->code = ERR_none;
	close(l->program[0]);
	close(l->program[1]);
	interrupted = r->detached ? container : runtime;
	signal(SIGINT, pass_on);
	signal(SIGURG, pass_on);
	if (fdio_send(l->report, &report, sizeof report, NULL, 0) != (ssize_t)sizeof report ||
	    e->code != ERR_none)
		_exit(1);
	close(l->report);
	/* The last process to end is the container, or the runtime that waited for it. */
	while (waitpid(-1, &status, 0) > 0 || errno == EINTR)
		;
	end_as(status);
}

/* ---- orders ---- */

static bool
arrange(struct landing *l)
{
	size_t n = 0;

	for (size_t i = 0; i < ORDER_MAX_FDS; i++)
		l->program[i] = l->fds[n++];
	l->report = l->fds[n++];
	for (int h = 0; h < HOST_NAMESPACES; h++)
		l->spaces[h] = (l->order.spaces & 1u << h) != 0 ? l->fds[n++] : -1;
	for (size_t i = 0; i < l->order.group.njoin; i++)
		l->order.group.join[i] = l->fds[n++];
	return l->spaces[HOST_PID] >= 0 && is_there(l->order.order.container);
}

static bool
receive(struct landing *l)
{
	ssize_t n;

	l->nfds = COUNT(l->fds);
	do
		n = fdio_receive(ZYGOTE_SOCKET, &l->order, sizeof l->order, l->fds, &l->nfds, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof l->order && l->order.group.njoin <= CGROUP_MAX_JOIN &&
	       (size_t)ORDER_MAX_FDS + 1 + (size_t)__builtin_popcount(l->order.spaces) +
	               l->order.group.njoin ==
	           l->nfds &&
	       arrange(l);
}

/* The new process is in the box's pid namespace and is the builder's child. */
static pid_t
clone_into(const struct landing *l, int *pidfd)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_PARENT,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
	};

	if (setns(l->spaces[HOST_PID], CLONE_NEWPID) < 0)
		return -1;

	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);

	if (pid != 0 && setns(launcher.own_pids, CLONE_NEWPID) < 0)
		_exit(1);
	return pid;
}

static void
serve(void)
{
	struct landing l;
	struct zygote_word word = { .said = ZYGOTE_BORN };

	while (receive(&l)) {
		int pidfd = -1;

		word.pid = clone_into(&l, &pidfd);
		if (word.pid == 0)
			run(&l);
		word.error = errno;
		if (fdio_send(ZYGOTE_SOCKET, &word, sizeof word, &pidfd, pidfd >= 0 ? 1 : 0) < 0)
			break;
		if (pidfd >= 0)
			close(pidfd);
		while (l.nfds > 0)
			close(l.fds[--l.nfds]);
	}
	_exit(0);
}

/* ---- its beginning ---- */

static int
keep_filters(const struct filter *filters, struct err *e)
{
	for (int l = 0; l < language_COUNT; l++) {
		launcher.filters[l] = memfd_create("filter", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		if (launcher.filters[l] < 0 ||
		    fdio_write(launcher.filters[l], &filters[l], sizeof *filters, e) < 0 ||
		    fcntl(launcher.filters[l], F_ADD_SEALS,
			F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
			return err_sys(e, "keep a seccomp program");
	}
	return 0;
}

/* Gives up calls that are not needed to start a container, although these capabilities would
 * allow them. */
static int
give_up_calls(struct err *e)
{
	static const int calls[] = {
#define DENY(call) SCMP_SYS(call),
#include "executor/builder/oci/launcher.def"
	};
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
	int r = context == NULL ? -ENOMEM : 0;

	for (size_t i = 0; r == 0 && i < COUNT(calls); i++)
		r = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
	if (r == 0)
		r = seccomp_load(context);
	seccomp_release(context);
	errno = -r;
	return r < 0 ? err_sys(e, "load a seccomp program") : 0;
}

/* Keeps those of the listed capabilities that it has: the root of a container does not have all,
 * and a runtime may work without some. */
static int
drop_the_rest(struct err *e)
{
	int mine[COUNT(kept)];
	size_t n = 0;

	for (size_t i = 0; i < COUNT(kept); i++)
		if (prctl(PR_CAPBSET_READ, kept[i]) == 1)
			mine[n++] = kept[i];
	return caps_keep(mine, n, e);
}

static int
settle(const struct host *host, int sock, const struct filter *filters, struct err *e)
{
	if (dup2(sock, ZYGOTE_SOCKET) < 0 || fcntl(ZYGOTE_SOCKET, F_SETFD, FD_CLOEXEC) < 0)
		return err_sys(e, "arrange descriptors");
	launcher.host = host;
	launcher.own_pids = host_space(host, HOST_PID, e);
	if (launcher.own_pids < 0 || keep_filters(filters, e) < 0 ||
	    (!host->mapped && drop_the_rest(e) < 0))
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return err_sys(e, "prctl");
	if (give_up_calls(e) < 0)
		return -1;
	launcher.own_filters = look_own_filters(host->proc);
	return 0;
}

int
launcher_open(
    const struct host *host, const struct filter *filters, pid_t *pid, int *sock, struct err *e)
{
	int pair[2];
	bool any = false;

	*sock = -1;
	for (uint32_t c = 0; c < CONTAINER_COUNT; c++)
		any = any || is_there(c);
	if (!any || host->mapped)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "socketpair");
	*pid = fork();
	if (*pid == 0) {
		close(pair[0]);
		if (settle(host, pair[1], filters, e) < 0) {
			log_error("no container can be started", LOG_E(e));
			_exit(1);
		}
		serve();
	}
	close(pair[1]);
	*sock = pair[0];
	return *pid < 0 ? err_sys(e, "fork") : 0;
}
