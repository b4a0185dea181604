/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.c - tries one system call each, in a process of its own, and prints what the kernel said.
 *
 * Static, so that it runs in a box as it runs outside.  Arguments are chosen so that a call which
 * is let through fails in another way than one which is refused (EFAULT, EBADF and EINVAL against
 * EPERM and ENOSYS), and does no harm where nothing holds it: run as root outside a box it is the
 * control.
 *
 *   probe            all, one line each: name and result
 *   probe name...    only these
 */
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define BAD      ((long)-4096)              /* no address */
#define HIGH     ((long)0x5a5a5a5a00000000) /* rubbish in the half that an int does not have */
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct probe {
	const char *name;
	long (*go)(void);
};

#define CALL(name_, ...) \
	static long try_##name_(void) \
	{ \
		return syscall(__VA_ARGS__); \
	}
#define LET CALL
#include "probes.def"
#undef LET
#undef CALL

/* By the gate of 32-bit programs: the number is one of another table. */
static long
gate32(long number, long a, long b)
{
	long r;

	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(number), "b"(a), "c"(b)
			 : "memory", "r8", "r9", "r10", "r11");
	if (r < 0 && r > -4096) {
		errno = (int)-r;
		return -1;
	}
	return r;
}

static long
try_int80_getpid(void)
{
	return gate32(20, 0, 0);
}

static long
try_int80_socketcall(void)
{
	return gate32(102, 1, BAD);
}

/* A guest's filter must not be able to let more through, nor to listen to what others call. */
static long
with_filter(unsigned flags)
{
	static struct {
		uint16_t code;
		uint8_t yes, no;
		uint32_t k;
	} allow = { 6, 0, 0, SECCOMP_RET_ALLOW };
	struct {
		unsigned short size;
		void *code;
	} program = { 1, &allow };

	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static long
try_seccomp_allow(void)
{
	return with_filter(0);
}

static long
try_seccomp_listener(void)
{
	return with_filter(SECCOMP_FILTER_FLAG_NEW_LISTENER);
}

/* One program of one instruction, never more: thousands at once can stop a kernel for good. */
static long
try_attach_filter(void)
{
	struct sock_filter all = { BPF_RET | BPF_K, 0, 0, UINT32_MAX };
	struct sock_fprog program = { 1, &all };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	return setsockopt(pair[0], SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

static long
try_clone3_empty(void)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	long pid = syscall(__NR_clone3, &args, sizeof args);

	if (pid == 0)
		_exit(0);
	return pid;
}

static long
clone_with(unsigned long flags)
{
	long pid = syscall(__NR_clone, flags | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return pid;
}

#define CLONE(flag) \
	static long try_clone_##flag(void) \
	{ \
		return clone_with(CLONE_##flag); \
	}
CLONE(NEWNS)
CLONE(NEWUSER)
CLONE(NEWPID)
CLONE(NEWNET)
CLONE(NEWIPC)
CLONE(NEWUTS)
CLONE(NEWCGROUP)
CLONE(PARENT)
CLONE(FILES)
CLONE(PTRACE)

static long
try_clone_high_NEWUSER(void)
{
	return clone_with(CLONE_NEWUSER | (unsigned long)HIGH);
}

/* The limit that keeps a core from the host's core_pattern program stays, also by a pointer whose
 * lower half is zero. */
static long
try_prlimit_core(void)
{
	struct rlimit *limit = mmap((void *)0x100000000, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	return syscall(__NR_prlimit64, 0, RLIMIT_CORE, limit, 0);
}

static long
try_ptrace_parent(void)
{
	return syscall(__NR_ptrace, PTRACE_SEIZE, getppid(), 0, 0);
}

static const struct probe probes[] = {
#define CALL(name_, ...) { #name_, try_##name_ },
#define LET              CALL
#include "probes.def"
	{ "attach_filter", try_attach_filter },
	{ "int80_getpid", try_int80_getpid },
	{ "int80_socketcall", try_int80_socketcall },
	{ "seccomp_allow", try_seccomp_allow },
	{ "seccomp_listener", try_seccomp_listener },
	{ "clone3_empty", try_clone3_empty },
	{ "clone_NEWNS", try_clone_NEWNS },
	{ "clone_NEWUSER", try_clone_NEWUSER },
	{ "clone_NEWPID", try_clone_NEWPID },
	{ "clone_NEWNET", try_clone_NEWNET },
	{ "clone_NEWIPC", try_clone_NEWIPC },
	{ "clone_NEWUTS", try_clone_NEWUTS },
	{ "clone_NEWCGROUP", try_clone_NEWCGROUP },
	{ "clone_PARENT", try_clone_PARENT },
	{ "clone_FILES", try_clone_FILES },
	{ "clone_PTRACE", try_clone_PTRACE },
	{ "clone_high_NEWUSER", try_clone_high_NEWUSER },
	{ "prlimit_core", try_prlimit_core },
	{ "ptrace_parent", try_ptrace_parent },
};

static void
report(const struct probe *p)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		errno = 0;
		long r = p->go();

		printf("%s %s\n", p->name, r < 0 ? strerrorname_np(errno) : "done");
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) == pid && WIFSIGNALED(status))
		printf("%s SIG%s\n", p->name, sigabbrev_np(WTERMSIG(status)));
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	for (size_t i = 0; i < COUNT(probes); i++) {
		bool asked = argc < 2;

		for (int a = 1; a < argc; a++)
			asked |= strcmp(argv[a], probes[i].name) == 0;
		if (asked)
			report(&probes[i]);
	}
	return 0;
}
