/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp.c - the allow list of a daemon: common/jail/syscalls.def and its own rows; a call that is
 * not listed kills the process.
 *
 * Trusts nothing. Built with CLOISTER_SECCOMP_TRAP, such a call fails and its name is printed on
 * stderr, so that one run shows all missing calls.
 */
#include "common/jail/seccomp.h"

#include "common/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* clone(2) may make a thread, but not a process or a namespace. */
#define CLONE_NEW \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	    CLONE_NEWPID | CLONE_NEWNET)

enum use {
	ALWAYS,
	BUS_USERS,
	FILE_USERS,
	TCP_USERS,
	OWNERS, /* daemons that list the call as their own */
};

struct row {
	int call;
	enum use use;
	unsigned ntests;
	struct scmp_arg_cmp tests[2];
};

/* clang-format off */
static const struct row rows[] = {
#define BITS(n, mask, value)          { n, SCMP_CMP_MASKED_EQ, (uint32_t)(mask), (uint32_t)(value) }
#define ALLOW(call)                   { SCMP_SYS(call), ALWAYS, 0, { { 0 } } },
#define ALLOW_IF(call, n, mask, value) { SCMP_SYS(call), ALWAYS, 1, { BITS(n, mask, value) } },
#define BUS(call)                     { SCMP_SYS(call), BUS_USERS, 0, { { 0 } } },
#define FILES(call)                   { SCMP_SYS(call), FILE_USERS, 0, { { 0 } } },
#define FILES_IF(call, n, mask, value) { SCMP_SYS(call), FILE_USERS, 1, { BITS(n, mask, value) } },
#define OWN_IF(call, n, mask, value)   { SCMP_SYS(call), OWNERS, 1, { BITS(n, mask, value) } },
#define TCP(call)                     { SCMP_SYS(call), TCP_USERS, 0, { { 0 } } },
#define OPTION(who, call, level, name) \
	{ SCMP_SYS(call), who##_USERS, 2, \
		{ BITS(1, UINT32_MAX, level), BITS(2, UINT32_MAX, name) } },
#include "common/jail/syscalls.def"
};
/* clang-format on */

static void
auto_filter_(scmp_filter_ctx *filter)
{
	if (*filter != NULL)
		seccomp_release(*filter);
}

#define auto_filter __attribute__((cleanup(auto_filter_)))

/* -1 with *e. A duplicate row, or a call that this architecture lacks, is not an error. */
static int
added(int rc, int call, struct err *e)
{
	if (rc == 0 || rc == -EEXIST || call < 0)
		return 0;
	errno = -rc;
	return err_sys(e, "seccomp rule for system call %d", call);
}

static int
add_row(scmp_filter_ctx filter, const struct row *row, struct err *e)
{
	return added(
	    seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, row->call, row->ntests, row->tests),
	    row->call, e);
}

/* A call of common/jail/syscalls.def that a daemon lists as its own gets the conditions in that
 * file. */
static int
add_own(scmp_filter_ctx filter, int call, struct err *e)
{
	bool known = false;

	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rows[i].call != call)
			continue;
		if (add_row(filter, &rows[i], e) < 0)
			return -1;
		known = true;
	}
	return known ? 0 : add_row(filter, &(struct row){ .call = call }, e);
}

static int
add_socket(scmp_filter_ctx filter, int family, int type, struct err *e)
{
	const struct scmp_arg_cmp only[] = { { 0, SCMP_CMP_EQ, (uint64_t)family, 0 },
		{ 1, SCMP_CMP_MASKED_EQ, 0xf, (uint64_t)type } };

	return added(seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket),
			 type == 0 ? 1 : COUNT(only), only),
	    SCMP_SYS(socket), e);
}

static int
add_sockets(scmp_filter_ctx filter, const struct jail *j, struct err *e)
{
	if (j->confined)
		return 0;
	if (add_socket(filter, AF_UNIX, SOCK_STREAM, e) < 0)
		return -1;
	if (j->outside && (add_socket(filter, AF_INET, SOCK_DGRAM, e) < 0 ||
			      add_socket(filter, AF_INET6, SOCK_DGRAM, e) < 0))
		return -1;
	if ((j->tcp_connect || j->tcp_bind || j->outside) &&
	    (add_socket(filter, AF_INET, SOCK_STREAM, e) < 0 ||
		add_socket(filter, AF_INET6, SOCK_STREAM, e) < 0))
		return -1;
	/* libzmq lists the interfaces before it binds, even to a numeric address. */
	return j->tcp_bind ? add_socket(filter, AF_NETLINK, 0, e) : 0;
}

static int
add_refusal(scmp_filter_ctx filter, int call, int error, struct err *e)
{
	return added(seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(error), call, 0, NULL), call, e);
}

static int
add_all(scmp_filter_ctx filter, const struct jail *j, struct err *e)
{
	bool tcp = j->tcp_bind || j->tcp_connect;

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].use == ALWAYS || (rows[i].use == BUS_USERS && !j->confined) ||
		    (rows[i].use == FILE_USERS && j->files) || (rows[i].use == TCP_USERS && tcp))
			if (add_row(filter, &rows[i], e) < 0)
				return -1;
	for (const int *call = j->syscalls; call != NULL && *call != -1; call++)
		if (add_own(filter, *call, e) < 0)
			return -1;
	for (const int *call = j->refused; call != NULL && *call != -1; call++)
		if (add_refusal(filter, *call, ENOENT, e) < 0)
			return -1;
	/* The flags of clone3 are in memory, which a filter cannot read. libc falls back to
	 * clone(2). */
	if (add_refusal(filter, SCMP_SYS(clone3), ENOSYS, e) < 0)
		return -1;
	return add_sockets(filter, j, e);
}

#ifdef CLOISTER_SECCOMP_TRAP
static const uint32_t otherwise = SCMP_ACT_TRAP;

static void
on_trap(int sig, siginfo_t *info, void *context)
{
	char line[128];
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, info->si_syscall);
	int n = snprintf(line, sizeof line, "not in syscalls.def: %d %s\n", info->si_syscall,
	    name == NULL ? "?" : name);

	(void)sig;
	(void)context;
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		_exit(1);
	free(name);
}

static int
watch_traps(struct err *e)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER };

	return sigaction(SIGSYS, &action, NULL) < 0 ? err_sys(e, "sigaction") : 0;
}
#else
static const uint32_t otherwise = SCMP_ACT_KILL_PROCESS;

static int
watch_traps(struct err *e)
{
	(void)e;
	return 0;
}
#endif

int
seccomp_enter(const struct jail *j, struct err *e)
{
#ifdef SANITIZED
	return 0; /* a sanitizer opens files, clones a tracer and more when it reports */
#endif
	auto_filter scmp_filter_ctx filter = seccomp_init(otherwise);

	if (filter == NULL)
		return err_set(e, ERR_internal, "seccomp_init");
	int rc = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (rc == 0)
		rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (rc < 0) {
		errno = -rc;
		return err_sys(e, "seccomp attributes");
	}
	if (add_all(filter, j, e) < 0 || watch_traps(e) < 0)
		return -1;
	rc = seccomp_load(filter);
	errno = -rc;
	return rc < 0 ? err_sys(e, "load the seccomp filter") : 0;
}

/* no_new_privs is set since the jail, which permits no prctl(2) for it. */
int
seccomp_narrow(const int *calls, struct err *e)
{
#ifdef SANITIZED
	return 0;
#endif
	auto_filter scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int rc;

	if (filter == NULL)
		return err_set(e, ERR_internal, "seccomp_init");
	rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
	for (; *calls != -1 && rc == 0; calls++)
		rc = seccomp_rule_add_array(filter, SCMP_ACT_KILL_PROCESS, *calls, 0, NULL);
	if (rc == 0)
		rc = seccomp_load(filter);
	errno = -rc;
	return rc < 0 ? err_sys(e, "narrow the seccomp filter") : 0;
}
