/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inmate.c - a daemon with the jail of a real one (its peer and its list of system calls come from
 * the build) that tries one forbidden operation in the jail.
 *
 * Trusts the test that starts it.  Exits with 0 if the attempt succeeded, with the errno if it was
 * refused; it prints the name of the attempt.  Most attempts must kill the process.
 */
#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/daemon/daemon.h"

#ifdef INMATE_SYSCALLS
#define SYSCALLS INMATE_SYSCALLS
#include "common/daemon/own_syscalls.h"
#else
static const int syscalls[] = { -1 }, refused[] = { -1 };
#endif

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

static char *attempt;
static bool confined;

static long
try_exec(void)
{
	return execl("/bin/true", "true", NULL);
}

static void *
exec_in_thread(void *unused)
{
	(void)unused;
	try_exec();
	return NULL;
}

static long
try_thread_exec(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, exec_in_thread, NULL) != 0)
		return -1;
	pthread_join(thread, NULL);
	return 0;
}

static void *
nothing(void *unused)
{
	return unused;
}

static long
try_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, nothing, NULL) != 0)
		return -1;
	return pthread_join(thread, NULL);
}

static long
try_fork(void)
{
	return syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static long
try_clone3(void)
{
	struct clone_args args = { .exit_signal = SIGCHLD };

	return syscall(SYS_clone3, &args, sizeof args);
}

static long
try_namespace(void)
{
	return unshare(CLONE_NEWUSER);
}

static long
try_mount(void)
{
	return mount("none", "/mnt", "tmpfs", 0, NULL);
}

static long
try_ptrace(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static long
try_root(void)
{
	return syscall(SYS_setresuid, 0, 0, 0);
}

static long
try_inet(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static long
try_packet(void)
{
	return socket(AF_PACKET, SOCK_RAW, 0);
}

static long
try_datagram(void)
{
	return socket(AF_UNIX, SOCK_DGRAM, 0);
}

static long
try_bpf(void)
{
	return syscall(SYS_bpf, 0, NULL, 0);
}

/* A program of exactly one instruction. */
static long
try_filter(void)
{
	struct sock_filter all = { BPF_RET | BPF_K, 0, 0, UINT32_MAX };
	struct sock_fprog program = { 1, &all };
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

static long
try_peer(void)
{
	int peer = -1;
	socklen_t size = sizeof peer;

	return getsockopt(-1, SOL_SOCKET, 77 /* SO_PEERPIDFD */, &peer, &size);
}

static long
try_huge(void)
{
	void *at = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	return at == MAP_FAILED ? -1 : 0;
}

static long
try_mergeable(void)
{
	return madvise(NULL, 0, MADV_MERGEABLE);
}

static long
try_owner(void)
{
	return fcntl(STDERR_FILENO, F_SETOWN, getpid());
}

/* An option that ZeroMQ and libmicrohttpd set on a connection. */
static long
try_nodelay(void)
{
	long rc = setsockopt(-1, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));

	return rc < 0 && errno == EBADF ? 0 : rc;
}

static long
try_io_uring(void)
{
	return syscall(SYS_io_uring_setup, 1, NULL);
}

static long
try_keyctl(void)
{
	return syscall(SYS_keyctl, 0, 0, 0, 0, 0);
}

static long
try_dumpable(void)
{
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static long
try_realtime(void)
{
	return sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
}

static long
try_shadow(void)
{
	return open("/etc/shadow", O_RDONLY | O_CLOEXEC);
}

static long
try_passwd(void)
{
	return open("/etc/passwd", O_RDONLY | O_CLOEXEC);
}

static long
try_tmp(void)
{
	return open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static long
try_state(void)
{
	return openat(daemon_state(), "inmate", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
}

static long
try_out_of_state(void)
{
	return openat(daemon_state(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The test listens there, outside the jail. */
static long
try_abstract(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "\0cloister-inmate" };
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	return connect(fd, (struct sockaddr *)&to,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen("cloister-inmate") + 1));
}

static const struct {
	const char *name;
	long (*try)(void);
} attempts[] = {
	{ "abstract", try_abstract },
	{ "bpf", try_bpf },
	{ "clone3", try_clone3 },
	{ "datagram", try_datagram },
	{ "dumpable", try_dumpable },
	{ "exec", try_exec },
	{ "filter", try_filter },
	{ "fork", try_fork },
	{ "huge", try_huge },
	{ "inet", try_inet },
	{ "io_uring", try_io_uring },
	{ "keyctl", try_keyctl },
	{ "mergeable", try_mergeable },
	{ "mount", try_mount },
	{ "namespace", try_namespace },
	{ "nodelay", try_nodelay },
	{ "out_of_state", try_out_of_state },
	{ "owner", try_owner },
	{ "packet", try_packet },
	{ "passwd", try_passwd },
	{ "peer", try_peer },
	{ "ptrace", try_ptrace },
	{ "realtime", try_realtime },
	{ "root", try_root },
	{ "shadow", try_shadow },
	{ "state", try_state },
	{ "thread", try_thread },
	{ "thread_exec", try_thread_exec },
	{ "tmp", try_tmp },
};

static int
make_attempt(struct err *e)
{
	for (size_t i = 0; i < COUNT(attempts); i++) {
		if (strcmp(attempts[i].name, attempt) != 0)
			continue;
		long rc = attempts[i].try();
		int why = rc < 0 ? errno : 0;
		log_info(why == 0 ? "succeeded" : "refused", LOG_S("attempt", attempt),
		    LOG_N("errno", why));
		_exit(why);
	}
	return *attempt == '\0' ? 0 : err_set(e, ERR_invalid_argument, "no attempt %s", attempt);
}

/* Forks a process beside the daemon, which tries the attempt; its exit status becomes this
 * one's. */
static int
open_beside(struct err *e)
{
	pid_t pid = confined ? fork() : 1;
	int status;

	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0) {
		if (daemon_confine(NULL, e) == 0)
			make_attempt(e);
		_exit(255);
	}
	if (!confined)
		return 0;
	must(waitpid(pid, &status, 0) == pid);
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}

static int
start(struct err *e)
{
	return make_attempt(e);
}

static const struct setting settings[] = {
	{ "confined", KIND_FLAG, &confined, "false", 0, 1, NULL,
	    "By a process as daemon_confine() jails it." },
	{ "attempt", KIND_TEXT, &attempt, "", 0, 32, NULL, "What to try; empty: nothing." },
	{ 0 },
};

/* Serves all its edges, but supports no message. */
static const struct route routes[] = {
	{ MSG_none, 0, NULL },
};

static const struct daemon self = {
	.self = INMATE_PEER,
	.summary = "try one thing in the jail of another daemon",
	.settings = settings,
	.routes = routes,
	.syscalls = syscalls,
	.outside = INMATE_PEER == PEER_egress,
	.refused = refused,
	.open = open_beside,
	.start = start,
};

int
main(int argc, char **argv)
{
	return daemon_main(argc, argv, &self);
}
