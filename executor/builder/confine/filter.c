/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - compiles tables of system calls to seccomp programs.
 *
 * Trusts the tables.  Promises that a call that no row names is refused, whatever its number, and
 * that the upper half of an argument never allows what a test on its lower half refuses.
 */
#include "executor/builder/confine/filter.h"

#include "common/base/auto.h"

#include <asm/ioctls.h>
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/membarrier.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define CLONE_NAMESPACES \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	    CLONE_NEWPID | CLONE_NEWNET)

#define MEMBARRIERS \
	(MEMBARRIER_CMD_PRIVATE_EXPEDITED | MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED | \
	    MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE | \
	    MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE)
/* The last two are MFD_NOEXEC_SEAL and MFD_EXEC. */
#define MFD_FLAGS  (MFD_CLOEXEC | MFD_ALLOW_SEALING | 0x8 | 0x10)
#define SEND_FLAGS (MSG_DONTWAIT | MSG_EOR | MSG_MORE | MSG_NOSIGNAL)

enum {
	FILTER_NEWEST = 450, /* the newest call that the tables were written for */
	FILTER_YOUNGER = 30, /* the calls after it that fail with ENOSYS */
	BINARY_TREE = 2, /* value for libseccomp; such a program loads in half the time of a list */
};

struct row {
	unsigned who;
	int call; /* negative: this architecture has no call of that name, libseccomp skips it */
	uint32_t verdict;
	unsigned ntests;
	struct scmp_arg_cmp tests[3];
};

/* clang-format off */
#define PYTHON  FILTER_PYTHON
#define NODE    FILTER_NODE
#define SHELL   FILTER_SHELL
#define GUEST   FILTER_GUEST
#define FILE_HELPER FILTER_FILE_HELPER
#define BUILDER FILTER_BUILDER
#define COUNTED FILTER_COUNTED
#define SHARING FILTER_SHARING
#define LOOPBACK FILTER_LOOPBACK
#define BITS(arg, mask, value) { arg, SCMP_CMP_MASKED_EQ, (uint32_t)(mask), (uint32_t)(value) }
#define EQ(arg, value)         BITS(arg, UINT32_MAX, value)
#define CLEAR(arg, bits)       BITS(arg, bits, 0)
#define NIL(arg)               { arg, SCMP_CMP_EQ, 0, 0 }
#define SET(arg)               { arg, SCMP_CMP_GT, 0, 0 }
#define ALLOW(who, call)       { who, SCMP_SYS(call), SCMP_ACT_ALLOW, 0, { { 0 } } },
#define ONLY(who, call, test)  { who, SCMP_SYS(call), SCMP_ACT_ALLOW, 1, { test } },
#define BOTH(who, call, a, b)  { who, SCMP_SYS(call), SCMP_ACT_ALLOW, 2, { a, b } },
#define THREE(who, call, a, b, c) { who, SCMP_SYS(call), SCMP_ACT_ALLOW, 3, { a, b, c } },
#define SOCKET(who, family, type, protocol) \
	THREE(who, socket, EQ(0, family), BITS(1, ~(SOCK_CLOEXEC | SOCK_NONBLOCK), type), \
	    EQ(2, protocol))
#define READS(who, level, name)  BOTH(who, getsockopt, EQ(1, level), EQ(2, name))
#define OPTION(who, level, name) \
	READS(who, level, name) BOTH(who, setsockopt, EQ(1, level), EQ(2, name))
#define ERROR(who, call, code) { who, SCMP_SYS(call), SCMP_ACT_ERRNO(code), 0, { { 0 } } },
#define ERROR_IF(who, call, code, test) \
	{ who, SCMP_SYS(call), SCMP_ACT_ERRNO(code), 1, { test } },
#define ERROR_ALL(who, call, code, a, b, c) \
	{ who, SCMP_SYS(call), SCMP_ACT_ERRNO(code), 3, { a, b, c } },
#define KILL(who, call)        { who, SCMP_SYS(call), SCMP_ACT_KILL_PROCESS, 0, { { 0 } } },
static const struct row rows[] = {
#include "executor/guest/guest.def"
#include "executor/builder/files/file_helper.def"
#include "executor/builder/builder.def"
};
/* clang-format on */

static void
auto_context_(scmp_filter_ctx *context)
{
	seccomp_release(*context);
}

/* True if one of these processes may make the call without any test.  Then their other rows have
 * no effect. */
static bool
is_open(int call, unsigned who)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].call == call && (rows[i].who & who) != 0 && rows[i].ntests == 0 &&
		    rows[i].verdict == SCMP_ACT_ALLOW)
			return true;
	return false;
}

/* The builder's own filter allows what any of its descendants may do, and the builder more. */
static bool
is_only_for_descendants(const struct row *row, unsigned who)
{
	return (who & FILTER_BUILDER) != 0 && row->verdict != SCMP_ACT_ALLOW && row->ntests > 0;
}

static int
add_row(scmp_filter_ctx context, const struct row *row, unsigned who)
{
	if ((row->who & who) == 0 || is_only_for_descendants(row, who))
		return 0;
	if (is_open(row->call, who))
		return seccomp_rule_add(context, SCMP_ACT_ALLOW, row->call, 0);
	return seccomp_rule_add_array(context, row->verdict, row->call, row->ntests, row->tests);
}

static int
add_rows(scmp_filter_ctx context, unsigned who)
{
	int r = seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, BINARY_TREE);

	if (r == 0)
		r = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	for (size_t i = 0; r == 0 && i < COUNT(rows); i++)
		r = add_row(context, &rows[i], who);
	for (int call = 1; r == 0 && call <= FILTER_YOUNGER; call++)
		r = seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), FILTER_NEWEST + call, 0);
	return r;
}

int
filter_make(struct filter *f, unsigned who, struct err *e)
{
	__attribute__((cleanup(auto_context_))) scmp_filter_ctx context =
	    seccomp_init(SCMP_ACT_ERRNO(EPERM));
	auto_fd int file = memfd_create("filter", MFD_CLOEXEC);
	int r = context == NULL || file < 0 ? -ENOMEM : add_rows(context, who);

	if (r == 0)
		r = seccomp_export_bpf(context, file);
	if (r < 0)
		return errno = -r, err_sys(e, "make a seccomp program");

	ssize_t size = pread(file, f->code, sizeof f->code, 0);

	if (size <= 0 || (size_t)size == sizeof f->code)
		return err_set(e, ERR_internal, "a seccomp program of %zd bytes", size);
	f->size = (uint16_t)((size_t)size / sizeof f->code[0]);
	return 0;
}
