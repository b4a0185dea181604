/* SPDX-License-Identifier: Apache-2.0 */
/* test_egress_passed.c - sockets wait under the name of their run, whoever asks meanwhile. */
#include "executor/egress/passed.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/daemon/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

enum { RUNS = 100 };

/* What the executor has passed and nobody has received. */
static struct {
	int fds[RUNS];
	size_t passed, received;
	int64_t now_us;
} fake;

int __wrap_handover_open(enum peer client, enum peer self, struct err *e);
bool __wrap_handover_take(int listener, struct handover *handover);
int64_t __wrap_loop_now_us(void);

int
__wrap_handover_open(enum peer client, enum peer self, struct err *e)
{
	(void)client, (void)self, (void)e;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool
__wrap_handover_take(int listener, struct handover *handover)
{
	(void)listener;
	if (fake.received == fake.passed)
		return false;
	*handover = (struct handover){ .nfds = 1, .fds = { fake.fds[fake.received] } };
	snprintf(handover->name, sizeof handover->name, "run%zu", fake.received++);
	return true;
}

int64_t
__wrap_loop_now_us(void)
{
	return fake.now_us;
}

static int
set_up(void **state)
{
	struct err e;

	(void)state;
	fake.passed = RUNS;
	fake.received = 0;
	for (size_t i = 0; i < RUNS; i++)
		fake.fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return passed_open(&e);
}

static int
tear_down(void **state)
{
	(void)state;
	passed_close();
	for (size_t i = 0; i < RUNS; i++)
		close(fake.fds[i]);
	return 0;
}

static bool
is_open(size_t run)
{
	return fcntl(fake.fds[run], F_GETFD) >= 0;
}

/* true: those sockets, still open. */
static bool
takes(size_t run)
{
	char name[HANDOVER_NAME];
	int fds[HANDOVER_FDS];

	snprintf(name, sizeof name, "run%zu", run);
	return passed_take(name, fds) == 1 && fds[0] == fake.fds[run] && is_open(run);
}

/* More than there is room for. */
static void
test_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < RUNS; i++)
		assert_true(takes(i));
	assert_false(takes(0));
}

static void
test_out_of_order(void **state)
{
	(void)state;
	for (size_t i = PASSED; i-- > 0;)
		assert_true(takes(i));
	assert_true(takes(RUNS - 1));
}

/* A name that was never passed costs the oldest ones only, and only without room. */
static void
test_room(void **state)
{
	(void)state;
	assert_int_equal(passed_take("other", (int[HANDOVER_FDS]){ 0 }), 0);
	for (size_t i = 0; i < RUNS; i++)
		assert_int_equal(is_open(i), i >= RUNS - PASSED);
	assert_true(takes(RUNS - PASSED));
	assert_true(takes(RUNS - 1));
}

static void
test_age(void **state)
{
	(void)state;
	fake.passed = 2;
	assert_true(takes(1));
	fake.now_us += PASSED_MS * INT64_C(1000) - 1;
	assert_int_equal(passed_take("other", (int[HANDOVER_FDS]){ 0 }), 0);
	assert_true(is_open(0));
	fake.now_us++;
	assert_false(takes(0));
	assert_false(is_open(0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_in_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_out_of_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_age, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
