/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - tables of calls as seccomp programs.
 *
 * Theory of operation.  Each box loads two of them, and pays by the instruction: the kernel checks,
 * translates and compiles every one.  So programs are kept short, to less than half of what
 * libseccomp makes of the same rows.  A call's number is found as one of a span of numbers that
 * have the same answer, not by itself; an argument is loaded once for all rows that look at it.
 *
 * A program is written from its end, so that where a jump goes is known when it is written: a spot
 * is an instruction, counted from the last one.
 *
 * Trusts the tables.  Promises that a call which no row names is refused, whatever its number, and
 * that no argument's upper half opens what its lower half closes.  tests/unit/test_filter.c holds
 * that each program answers as libseccomp's does.
 */
#include "executor/builder/jail/filter.h"

#include "common/auto.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define CLONE_NAMESPACES \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	    CLONE_NEWPID | CLONE_NEWNET)

enum {
	FILTER_NEWEST = 450, /* the youngest call that the tables were written with in view */
	FILTER_YOUNGER = 30, /* so many after it are answered as by a kernel that lacks them */
	NUMBERS = FILTER_NEWEST + FILTER_YOUNGER + 1,
	X32 = 1 << 30, /* calls of that kind begin here */
	MOST_SPANS = NUMBERS + 3,
	JUMP = UINT8_MAX + 1, /* no further */
};

enum {
	LOAD = BPF_LD | BPF_W | BPF_ABS,
	MASK = BPF_ALU | BPF_AND | BPF_K,
	IF_IS = BPF_JMP | BPF_JEQ | BPF_K,
	IF_FROM = BPF_JMP | BPF_JGE | BPF_K,
	ANSWER = BPF_RET | BPF_K,
};

/* Holds if these bits of the argument have this value. */
struct test {
	unsigned argument;
	uint64_t bits, value;
};

struct row {
	unsigned who;
	int call; /* negative: this architecture has none of that name */
	uint32_t answer;
	unsigned ntests;
	struct test tests[2];
};

/* Numbers from the first up to where the next span begins. */
struct span {
	uint32_t first;
	unsigned spot;
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
#define BITS(arg, mask, value) { arg, (uint32_t)(mask), (uint32_t)(value) }
#define EQ(arg, value)         BITS(arg, UINT32_MAX, value)
#define CLEAR(arg, bits)       BITS(arg, bits, 0)
#define NIL(arg)               { arg, UINT64_MAX, 0 }
#define ERRNO(code)            (SECCOMP_RET_ERRNO | (code))
#define ALLOW(who, call)       { who, SCMP_SYS(call), SECCOMP_RET_ALLOW, 0, { { 0 } } },
#define ONLY(who, call, test)  { who, SCMP_SYS(call), SECCOMP_RET_ALLOW, 1, { test } },
#define BOTH(who, call, a, b)  { who, SCMP_SYS(call), SECCOMP_RET_ALLOW, 2, { a, b } },
#define ERROR(who, call, code) { who, SCMP_SYS(call), ERRNO(code), 0, { { 0 } } },
#define KILL(who, call)        { who, SCMP_SYS(call), SECCOMP_RET_KILL_PROCESS, 0, { { 0 } } },
static const struct row rows[] = {
#include "executor/guest/guest.def"
#include "executor/builder/init.def"
#include "executor/builder/steward/steward.def"
#include "executor/builder/builder.def"
};
/* clang-format on */

/* ---- instructions ---- */

static struct sock_filter *
at(struct filter *f, unsigned spot)
{
	return &f->code[BPF_MAXINSNS - 1 - spot];
}

static unsigned
put(struct filter *f, uint16_t code, uint32_t k)
{
	must(f->size < BPF_MAXINSNS);
	*at(f, f->size) = (struct sock_filter){ .code = code, .k = k };
	return f->size++;
}

/* Always the same one. */
static unsigned
answer(struct filter *f, uint32_t k)
{
	for (unsigned spot = 0; spot < f->size; spot++)
		if (at(f, spot)->code == ANSWER && at(f, spot)->k == k)
			return spot;
	return put(f, ANSWER, k);
}

static unsigned
branch(struct filter *f, uint16_t code, uint32_t k, unsigned yes, unsigned no)
{
	unsigned spot = put(f, code, k);

	must(spot - yes <= JUMP && spot - no <= JUMP);
	at(f, spot)->jt = (uint8_t)(spot - yes - 1);
	at(f, spot)->jf = (uint8_t)(spot - no - 1);
	return spot;
}

/* ---- a call's arguments ---- */

static uint32_t
word_of(const struct test *t)
{
	return (uint32_t)(offsetof(struct seccomp_data, args) + t->argument * sizeof t->value);
}

/* word: its place in struct seccomp_data. */
static unsigned
compare(struct filter *f, uint32_t word, uint32_t bits, uint32_t value, unsigned yes, unsigned no)
{
	if (bits == 0)
		return yes;
	branch(f, IF_IS, value, yes, no);
	if (bits != UINT32_MAX)
		put(f, MASK, bits);
	return put(f, LOAD, word);
}

static unsigned
compare_both(struct filter *f, const struct test *t, unsigned yes, unsigned no)
{
	uint32_t low = word_of(t), high = low + sizeof low;

	yes = compare(f, high, (uint32_t)(t->bits >> 32), (uint32_t)(t->value >> 32), yes, no);
	return compare(f, low, (uint32_t)t->bits, (uint32_t)t->value, yes, no);
}

/* no: what comes if it does not hold. */
static unsigned
add_row(struct filter *f, const struct row *row, unsigned no)
{
	unsigned spot = answer(f, row->answer);
	const struct test *tests = row->tests;

	/* One more value of what is loaded there: once is enough. */
	if (row->ntests == 1 && tests->bits == UINT32_MAX && no + 1u == f->size &&
	    at(f, no)->code == LOAD && at(f, no)->k == word_of(tests))
		no = --f->size - 1u;
	for (unsigned i = row->ntests; i-- > 0;)
		spot = compare_both(f, &tests[i], spot, no);
	return spot;
}

/* Is the call done without any test by somebody of these?  Then their other rows say nothing. */
static bool
is_open(int call, unsigned who)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].call == call && (rows[i].who & who) != 0 && rows[i].ntests == 0 &&
		    rows[i].answer == SECCOMP_RET_ALLOW)
			return true;
	return false;
}

static unsigned
add_call(struct filter *f, int call, unsigned who)
{
	unsigned spot = answer(f, ERRNO(call > FILTER_NEWEST ? ENOSYS : EPERM));

	if (is_open(call, who))
		return answer(f, SECCOMP_RET_ALLOW);
	for (size_t i = COUNT(rows); i-- > 0;)
		if (rows[i].call == call && (rows[i].who & who) != 0)
			spot = add_row(f, &rows[i], spot);
	return spot;
}

/* ---- a call's number ---- */

/* Returns how many; one behind them is there, too. */
static size_t
add_calls(struct filter *f, unsigned who, struct span *spans)
{
	size_t n = 0;

	for (int call = 0; call < NUMBERS; call++) {
		unsigned spot = add_call(f, call, who);

		if (n == 0 || spans[n - 1].spot != spot)
			spans[n++] = (struct span){ (uint32_t)call, spot };
	}
	spans[n++] = (struct span){ NUMBERS, answer(f, ERRNO(EPERM)) };
	spans[n++] = (struct span){ X32, answer(f, SECCOMP_RET_KILL_PROCESS) };
	/* No call's: a tracer has one skipped by it. */
	spans[n++] = (struct span){ UINT32_MAX, answer(f, ERRNO(EPERM)) };
	spans[n] = (struct span){ 0, 0 };
	return n;
}

/* So many spans go where the first goes, but for single numbers among them. */
static size_t
count_alike(const struct span *s, size_t n)
{
	size_t i = 1;

	while (
	    i < n && s[i + 1].first - s[i].first == 1 && (i + 1 == n || s[i + 1].spot == s[0].spot))
		i += 2;
	return i < n ? i : n;
}

/* From here a number comes to the spot of its span. */
static unsigned
find(struct filter *f, const struct span *s, size_t n)
{
	size_t middle = count_alike(s, n);

	if (middle == n) {
		unsigned spot = s[0].spot;

		for (size_t i = n / 2 * 2; i > 1; i -= 2)
			spot = branch(f, IF_IS, s[i - 1].first, s[i - 1].spot, spot);
		return spot;
	}
	for (size_t next = middle; next <= n / 2; next += count_alike(s + next, n - next))
		middle = next;

	unsigned upper = find(f, s + middle, n - middle);

	return branch(f, IF_FROM, s[middle].first, upper, find(f, s, middle));
}

void
filter_make(struct filter *f, unsigned who)
{
	struct span spans[MOST_SPANS + 1];

	f->size = 0;

	size_t n = add_calls(f, who, spans);
	unsigned number = find(f, spans, n), other = answer(f, SECCOMP_RET_KILL_PROCESS);

	must(number + 1u == f->size);
	number = put(f, LOAD, offsetof(struct seccomp_data, nr));
	branch(f, IF_IS, seccomp_arch_native(), number, other);
	put(f, LOAD, offsetof(struct seccomp_data, arch));
	memmove(f->code, at(f, f->size - 1u), f->size * sizeof f->code[0]);
}
