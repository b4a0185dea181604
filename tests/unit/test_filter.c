/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_filter.c - the seccomp programs of boxes: each answers every call as the program that
 * libseccomp makes of the same rows, is less than half as long, and is taken by the kernel.
 */
#include "executor/builder/jail/filter.h"

#include "common/auto.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#define CLONE_NAMESPACES \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	    CLONE_NEWPID | CLONE_NEWNET)

enum {
	NUMBERS = 601,
	NEWEST = 450,
	YOUNGER = 30,
	ARGUMENTS = 6,
};

struct row {
	unsigned who;
	int call;
	uint32_t verdict;
	unsigned ntests;
	struct scmp_arg_cmp tests[2];
};

/* clang-format off */
#define PYTHON  FILTER_PYTHON
#define NODE    FILTER_NODE
#define SHELL   FILTER_SHELL
#define GUEST   FILTER_GUEST
#define STEWARD FILTER_STEWARD
#define BUILDER FILTER_BUILDER
#define COUNTED FILTER_COUNTED
#define INIT    FILTER_INIT
#define SHARING FILTER_SHARING
#define BITS(arg, mask, value) { arg, SCMP_CMP_MASKED_EQ, (uint32_t)(mask), (uint32_t)(value) }
#define EQ(arg, value)         BITS(arg, UINT32_MAX, value)
#define CLEAR(arg, bits)       BITS(arg, bits, 0)
#define NIL(arg)               { arg, SCMP_CMP_EQ, 0, 0 }
#define ALLOW(who, call)       { who, SCMP_SYS(call), SCMP_ACT_ALLOW, 0, { { 0 } } },
#define ONLY(who, call, test)  { who, SCMP_SYS(call), SCMP_ACT_ALLOW, 1, { test } },
#define BOTH(who, call, a, b)  { who, SCMP_SYS(call), SCMP_ACT_ALLOW, 2, { a, b } },
#define ERROR(who, call, code) { who, SCMP_SYS(call), SCMP_ACT_ERRNO(code), 0, { { 0 } } },
#define KILL(who, call)        { who, SCMP_SYS(call), SCMP_ACT_KILL_PROCESS, 0, { { 0 } } },
static const struct row rows[] = {
#include "executor/guest/guest.def"
#include "executor/builder/init.def"
#include "executor/builder/steward/steward.def"
#include "executor/builder/builder.def"
};
/* clang-format on */

static const unsigned whose[] = {
	FILTER_PYTHON,
	FILTER_PYTHON | FILTER_COUNTED,
	FILTER_PYTHON | FILTER_SHARING,
	FILTER_PYTHON | FILTER_COUNTED | FILTER_SHARING,
	FILTER_NODE,
	FILTER_NODE | FILTER_COUNTED | FILTER_SHARING,
	FILTER_SHELL,
	FILTER_SHELL | FILTER_COUNTED | FILTER_SHARING,
	FILTER_STEWARD,
	FILTER_INIT,
	FILTER_ALL,
};

/* ---- libseccomp's ---- */

static bool
is_open(int call, unsigned who)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].call == call && (rows[i].who & who) != 0 && rows[i].ntests == 0 &&
		    rows[i].verdict == SCMP_ACT_ALLOW)
			return true;
	return false;
}

static void
add_row(scmp_filter_ctx context, const struct row *row, unsigned who)
{
	if ((row->who & who) == 0)
		return;
	if (is_open(row->call, who))
		assert_int_equal(seccomp_rule_add(context, SCMP_ACT_ALLOW, row->call, 0), 0);
	else
		assert_int_equal(seccomp_rule_add_array(
				     context, row->verdict, row->call, row->ntests, row->tests),
		    0);
}

static void
make_by_library(struct filter *f, unsigned who)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	auto_fd int file = memfd_create("filter", MFD_CLOEXEC);

	assert_non_null(context);
	assert_int_equal(seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2), 0);
	assert_int_equal(
	    seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), 0);
	for (size_t i = 0; i < COUNT(rows); i++)
		add_row(context, &rows[i], who);
	for (int call = NEWEST + 1; call <= NEWEST + YOUNGER; call++)
		assert_int_equal(seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), call, 0), 0);
	assert_int_equal(seccomp_export_bpf(context, file), 0);
	seccomp_release(context);

	ssize_t size = pread(file, f->code, sizeof f->code, 0);

	assert_true(size > 0 && (size_t)size < sizeof f->code);
	f->size = (uint16_t)((size_t)size / sizeof f->code[0]);
}

/* ---- running a program ---- */

struct verdict {
	uint32_t answer;
	bool looked; /* at an argument */
};

static bool
holds(const struct sock_filter *i, uint32_t value)
{
	switch (BPF_OP(i->code)) {
	case BPF_JEQ:
		return value == i->k;
	case BPF_JGE:
		return value >= i->k;
	case BPF_JGT:
		return value > i->k;
	default:
		fail_msg("jump 0x%x", i->code);
		return false;
	}
}

static struct verdict
ask(const struct filter *f, const struct seccomp_data *data)
{
	struct verdict v = { 0, false };
	uint32_t value = 0;

	for (const struct sock_filter *i = f->code; i < f->code + f->size; i++) {
		if (i->code == (BPF_LD | BPF_W | BPF_ABS)) {
			memcpy(&value, (const char *)data + i->k, sizeof value);
			v.looked |= i->k >= offsetof(struct seccomp_data, args);
		} else if (i->code == (BPF_ALU | BPF_AND | BPF_K)) {
			value &= i->k;
		} else if (i->code == (BPF_JMP | BPF_JA)) {
			i += i->k;
		} else if (i->code == (BPF_RET | BPF_K)) {
			v.answer = i->k;
			return v;
		} else {
			assert_int_equal(BPF_CLASS(i->code), BPF_JMP);
			i += holds(i, value) ? i->jt : i->jf;
		}
	}
	fail_msg("no answer");
	return v;
}

static struct filter ours, theirs;

static void
compare(unsigned who, const struct seccomp_data *data)
{
	struct verdict a = ask(&ours, data), b = ask(&theirs, data);

	if (a.answer != b.answer)
		fail_msg("of 0x%x: call %d of 0x%x with 0x%llx 0x%llx 0x%llx 0x%llx: 0x%x and not "
			 "0x%x",
		    who, data->nr, data->arch, data->args[0], data->args[1], data->args[2],
		    data->args[3], a.answer, b.answer);
}

static void
make_both(unsigned who)
{
	filter_make(&ours, who);
	make_by_library(&theirs, who);
}

/* ---- what is tried ---- */

static void
fill(struct seccomp_data *data, uint64_t value)
{
	for (size_t i = 0; i < ARGUMENTS; i++)
		data->args[i] = value;
}

/* The test's value in its argument, then with each bit turned; the others as they are. */
static void
turn_bits(unsigned who, struct seccomp_data data, const struct scmp_arg_cmp *test)
{
	uint64_t value = test->op == SCMP_CMP_EQ ? test->datum_a : test->datum_b;

	data.args[test->arg] = value;
	compare(who, &data);
	for (unsigned bit = 0; bit < 64; bit++) {
		data.args[test->arg] = value ^ 1ull << bit;
		compare(who, &data);
	}
}

/* Each test of the call's, among others of its arguments that hold and that do not. */
static void
try_tests(unsigned who, int call)
{
	static const uint64_t others[] = { 0, 1, 5, 1ull << 32, UINT64_MAX };
	struct seccomp_data data = { .nr = call, .arch = seccomp_arch_native() };

	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned t = 0; rows[i].call == call && t < rows[i].ntests; t++)
			for (size_t n = 0; n < COUNT(others) * COUNT(others) * COUNT(others); n++) {
				data.args[0] = others[n % COUNT(others)];
				data.args[1] = others[n / COUNT(others) % COUNT(others)];
				data.args[2] = others[n / COUNT(others) / COUNT(others)];
				turn_bits(who, data, &rows[i].tests[t]);
			}
}

static void
answers_as_libseccomp_does(void **state)
{
	(void)state;
	for (size_t w = 0; w < COUNT(whose); w++) {
		make_both(whose[w]);
		for (int call = 0; call < NUMBERS; call++) {
			struct seccomp_data data = { .nr = call, .arch = seccomp_arch_native() };
			struct verdict v = ask(&ours, &data);

			compare(whose[w], &data);
			assert_true(v.looked == ask(&theirs, &data).looked);
			if (v.looked)
				try_tests(whose[w], call);
			fill(&data, UINT64_MAX);
			compare(whose[w], &data);
		}
	}
}

static void
numbers_of_other_kinds(void **state)
{
	static const uint32_t odd[] = { 1u << 30, (1u << 30) + 1, (1u << 30) + 59, (1u << 30) + 520,
		(1u << 30) - 1, 1u << 31, INT32_MAX, 1000, 65535, UINT32_MAX, UINT32_MAX - 1 };
	static const uint32_t arches[] = { AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64, 0 };

	(void)state;
	for (size_t w = 0; w < COUNT(whose); w++) {
		make_both(whose[w]);
		for (size_t i = 0; i < COUNT(odd); i++)
			compare(whose[w], &(struct seccomp_data){
					      .nr = (int)odd[i], .arch = seccomp_arch_native() });
		for (size_t a = 0; a < COUNT(arches); a++)
			for (int call = -1; call < NUMBERS; call++) {
				struct seccomp_data data = { .nr = call, .arch = arches[a] };

				compare(whose[w], &data);
				assert_int_equal(
				    ask(&ours, &data).answer, SECCOMP_RET_KILL_PROCESS);
			}
	}
}

static void
is_less_than_half_as_long(void **state)
{
	(void)state;
	for (size_t w = 0; w < COUNT(whose); w++) {
		make_both(whose[w]);
		assert_in_range(ours.size, 1, theirs.size / 2);
	}
}

/* Of all of these exit_group is a call, and flock is none: it would fail with EBADF. */
static void
the_kernel_takes_it(void **state)
{
	(void)state;
	for (size_t w = 0; w < COUNT(whose); w++) {
		struct err e;
		int status;

		filter_make(&ours, whose[w]);

		pid_t pid = fork();

		if (pid == 0) {
			bool loaded = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
			              filter_load(&ours, &e) == 0;

			/* Before _exit() a sanitizer makes calls of its own. */
			syscall(SYS_exit_group,
			    loaded && syscall(SYS_flock, -1, 0) < 0 && errno == EPERM ? 0 : 1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_as_libseccomp_does),
		cmocka_unit_test(numbers_of_other_kinds),
		cmocka_unit_test(is_less_than_half_as_long),
		cmocka_unit_test(the_kernel_takes_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
