/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_share.c - limits of the workspaces and boxes of one principal, and of all together.
 *
 * A workspace here has 256 MiB and as many KiB as makes 16 MiB more. A box on it has 512 MiB of
 * memory, 64 of /tmp and 256 of the workspace.
 */
#include "run_setup.h"

#include "executor/tools/info.h"
#include "executor/tools/session_tools.h"

#include <stdio.h>
#include <string.h>

enum {
	ONE = 272,
	BOX = 832,
};

static int
begin_share(void **state)
{
	int status = begin(state);

	options.max_concurrent = 4;
	options.all_workspaces_mb = 100 * ONE;
	options.all_workspaces_mb_each = 2 * ONE;
	return status;
}

/* A session by the tool, as far as that goes. */
static enum err_code
create_of(const char *principal, uint64_t disk_mb, char id[SESSION_ID], struct err *e)
{
	struct resource_limits limits = { .max_disk_mb = disk_mb,
		.max_files = disk_mb > 0 ? 16 : 0 };
	struct create_session ask = { .resource_limits = &limits };
	struct fake_call *c = fake_call(MSG_create_session, principal);

	*e = (struct err){ 0 };
	if (session_tools_on_create_session(&c->call, &ask, e) < 0) {
		free(c);
		return e->code;
	}
	fake_make(NULL);
	assert_int_equal(c->why.code, ERR_none);
	snprintf(id, SESSION_ID, "%s", c->reply.session_created.session_id);
	fake_forget(c);
	return ERR_none;
}

static enum err_code
create(const char *principal)
{
	char id[SESSION_ID];
	struct err e;

	return create_of(principal, 0, id, &e);
}

static void
terminate(const char *principal, char *id)
{
	struct terminate_session ask = { .session_id = id };
	struct fake_call *c = fake_call(MSG_terminate_session, principal);
	struct err e;

	assert_int_equal(session_tools_on_terminate_session(&c->call, &ask, &e), 0);
	assert_int_equal(c->ended, 1);
	fake_forget(c);
}

static uint64_t
held_mib(const char *principal)
{
	return share_of(SHARE_WORKSPACES, principal).bytes / LIMITS_MIB;
}

static void
bounds_one(void **state)
{
	char id[SESSION_ID], other[SESSION_ID];
	struct err e;

	(void)state;
	assert_int_equal(create_of("ann", 0, id, &e), ERR_none);
	assert_int_equal(create("ann"), ERR_none);
	assert_int_equal(create_of("ann", 0, other, &e), ERR_session_limit);
	/* What there is, what the most is, and what to do. */
	assert_non_null(strstr(e.text, "hold 544 MiB, this one 272 more, and 544 are the most"));
	assert_non_null(strstr(e.text, "terminate_session"));
	assert_non_null(strstr(e.text, "max_disk_mb"));
	assert_int_equal(create("bob"), ERR_none);
	terminate("ann", id);
	assert_int_equal(held_mib("ann"), ONE);
	assert_int_equal(create("ann"), ERR_none);
	/* A small one counts as what it is. */
	assert_int_equal(create_of("bob", 255, id, &e), ERR_none);
	assert_int_equal(held_mib("bob"), ONE + 255);
}

static void
leaves_as_much_to_all_others(void **state)
{
	char id[SESSION_ID];
	struct err e;

	(void)state;
	options.all_workspaces_mb = 4 * ONE;
	options.all_workspaces_mb_each = 0;
	assert_int_equal(create("ann"), ERR_none);
	assert_int_equal(create("ann"), ERR_none);
	assert_int_equal(create("ann"), ERR_session_limit);
	assert_int_equal(create("bob"), ERR_none);
	assert_int_equal(create("bob"), ERR_session_limit);
	assert_int_equal(create("cid"), ERR_limit_exceeded);
	assert_int_equal(create_of("cid", 100, id, &e), ERR_none);
}

static void
bounds_all(void **state)
{
	struct err e;
	char id[SESSION_ID];

	(void)state;
	options.all_workspaces_mb = 3 * ONE;
	assert_int_equal(create("ann"), ERR_none);
	assert_int_equal(create("ann"), ERR_none);
	assert_int_equal(create("bob"), ERR_none);
	/* Of others no session can be ended. */
	assert_int_equal(create_of("cid", 0, id, &e), ERR_limit_exceeded);
	assert_non_null(strstr(e.text, "816 of 816"));
	assert_null(strstr(e.text, "terminate_session"));
}

static void
counts_what_is_read_yet(void **state)
{
	struct terminate_session ask = { 0 };
	struct fake_call *c = fake_call(MSG_terminate_session, "ann");
	struct session_use use = { 0 };
	char id[SESSION_ID], other[SESSION_ID];
	struct err e;

	(void)state;
	options.all_workspaces_mb_each = ONE;
	assert_int_equal(create_of("ann", 0, id, &e), ERR_none);
	assert_int_equal(session_enter(session_find(&c->call, id, &e), SESSION_READ, &use, &e), 0);
	ask.session_id = id;
	assert_int_equal(session_tools_on_terminate_session(&c->call, &ask, &e), 0);
	assert_int_equal(create_of("ann", 0, other, &e), ERR_session_limit);
	session_leave(&use);
	assert_int_equal(c->ended, 1);
	fake_forget(c);
	assert_int_equal(create("ann"), ERR_none);
}

static void
ends_old_sessions_where_that_is_wanted(void **state)
{
	char first[SESSION_ID], id[SESSION_ID];
	struct fake_call *c = fake_call(MSG_execute_code, "ann"), *run;
	struct err e;

	(void)state;
	options.session_evict = true;
	assert_int_equal(create_of("ann", 0, first, &e), ERR_none);
	/* One with a program, too, which is told to end and has not yet. */
	run = start((struct execute_code){ .session_id = first });
	fake_end_run(ended_well("1\n"));
	fake_forget(run);
	fake_pass(10);
	assert_int_equal(create("ann"), ERR_none);
	assert_int_equal(create_of("ann", 0, id, &e), ERR_none);
	assert_null(session_find(&c->call, first, &e));
	assert_non_null(session_find(&c->call, id, &e));
	assert_int_equal(held_mib("ann"), 2 * ONE);
	/* None is ended for what would not fit without them either. */
	assert_int_equal(create_of("ann", 2 * ONE, first, &e), ERR_limit_exceeded);
	assert_int_equal(held_mib("ann"), 2 * ONE);
	free(c);
}

/* Their number is what is bounded, and nobody's call fails for what his sessions hold. */
static void
leaves_runs_alone(void **state)
{
	struct fake_call *run;

	(void)state;
	while (create("ann") == ERR_none)
		;
	uint64_t full = held_mib("ann");
	run = start((struct execute_code){ 0 });
	assert_int_equal(run->ended, 0);
	assert_int_equal(held_mib("ann"), full);
	fake_make(NULL);
	fake_end_run(ended_well("1\n"));
	assert_int_equal(run->why.code, ERR_none);
	fake_forget(run);
}

static uint64_t
memory_mib(const char *principal)
{
	return share_of(SHARE_MEMORY, principal).bytes / LIMITS_MIB;
}

static void
bounds_memory_once_there_are_others(void **state)
{
	char id[SESSION_ID];
	struct err e;

	(void)state;
	options.all_workspaces_mb_each = 0;
	options.all_memory_mb = 8 * BOX;
	/* Alone: more than there is. */
	for (int i = 0; i < 10; i++)
		assert_int_equal(create("ann"), ERR_none);
	assert_int_equal(memory_mib("ann"), 10 * BOX);
	/* Half counts as ann's, and half of the rest is two boxes: a session and room for a run. */
	assert_int_equal(create_of("bob", 0, id, &e), ERR_none);
	assert_int_equal(create_of("bob", 0, id, &e), ERR_session_limit);
	assert_non_null(strstr(e.text, "your programs may hold 832 MiB, this one 832 more"));
	assert_non_null(strstr(e.text, "all_memory_mb: "));
	assert_non_null(strstr(e.text, "terminate_session"));
	assert_non_null(strstr(e.text, "max_ram_mb"));
	assert_true(share_fits(SHARE_MEMORY, "bob", BOX * (uint64_t)LIMITS_MIB / 2));
	assert_int_equal(create("ann"), ERR_session_limit);
}

static void
bounds_memory_of_each_also_alone(void **state)
{
	char id[SESSION_ID], other[SESSION_ID];
	struct err e;

	(void)state;
	options.all_workspaces_mb_each = 0;
	options.all_memory_mb_each = 3 * BOX;
	assert_int_equal(create_of("ann", 0, id, &e), ERR_none);
	assert_int_equal(create("ann"), ERR_none);
	assert_int_equal(create_of("ann", 0, other, &e), ERR_session_limit);
	terminate("ann", id);
	assert_int_equal(memory_mib("ann"), BOX);
	assert_int_equal(create("ann"), ERR_none);
	/* What was refused for one of both has nothing of the other. */
	assert_int_equal(held_mib("ann"), 2 * ONE);
}

/* It waits for its memory while there are places, and its caller may give up. */
static void
lets_runs_wait_for_memory(void **state)
{
	char id[SESSION_ID];
	struct fake_call *run, *next, *late;
	struct err e;

	(void)state;
	options.all_memory_mb_each = 2 * BOX;
	assert_int_equal(create_of("ann", 0, id, &e), ERR_none);
	run = start((struct execute_code){ 0 });
	next = start((struct execute_code){ 0 });
	late = start((struct execute_code){ 0 });
	assert_int_equal(queue_counts()->running, 1);
	assert_int_equal(queue_counts()->waiting, 2);
	late->call.on_cancel(&late->call, ERR_deadline_exceeded);
	assert_int_equal(late->why.code, ERR_deadline_exceeded);
	fake_forget(late);
	terminate("ann", id);
	assert_int_equal(queue_counts()->running, 2);
	for (int i = 0; i < 2; i++)
		fake_make(NULL);
	fake_end_run(ended_well("1\n"));
	fake_end_run(ended_well("2\n"));
	assert_int_equal(run->why.code, ERR_none);
	assert_int_equal(next->why.code, ERR_none);
	assert_int_equal(memory_mib("ann"), 0);
	fake_forget(run);
	fake_forget(next);
}

static void
refuses_a_run_that_never_fits(void **state)
{
	struct fake_call *run;

	(void)state;
	options.all_memory_mb_each = BOX - 1;
	run = start((struct execute_code){ 0 });
	assert_int_equal(run->why.code, ERR_limit_exceeded);
	assert_non_null(strstr(run->why.text, "max_ram_mb"));
	fake_forget(run);
	assert_int_equal(queue_counts()->running + queue_counts()->waiting, 0);
}

static void
is_told(void **state)
{
	struct fake_call *c = fake_call(MSG_sandbox_stats, "ann");
	struct sandbox_stats ask = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(create("ann"), ERR_none);
	assert_int_equal(info_on_sandbox_stats(&c->call, &ask, &e), 0);
	assert_int_equal(c->reply.stats.workspaces->bytes, ONE * LIMITS_MIB);
	assert_int_equal(c->reply.stats.workspaces->max_bytes, 2 * ONE * LIMITS_MIB);
	fake_forget(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bounds_one, begin_share, end),
		cmocka_unit_test_setup_teardown(leaves_as_much_to_all_others, begin_share, end),
		cmocka_unit_test_setup_teardown(bounds_all, begin_share, end),
		cmocka_unit_test_setup_teardown(counts_what_is_read_yet, begin_share, end),
		cmocka_unit_test_setup_teardown(
		    ends_old_sessions_where_that_is_wanted, begin_share, end),
		cmocka_unit_test_setup_teardown(leaves_runs_alone, begin_share, end),
		cmocka_unit_test_setup_teardown(
		    bounds_memory_once_there_are_others, begin_share, end),
		cmocka_unit_test_setup_teardown(bounds_memory_of_each_also_alone, begin_share, end),
		cmocka_unit_test_setup_teardown(lets_runs_wait_for_memory, begin_share, end),
		cmocka_unit_test_setup_teardown(refuses_a_run_that_never_fits, begin_share, end),
		cmocka_unit_test_setup_teardown(is_told, begin_share, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
