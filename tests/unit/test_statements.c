/* SPDX-License-Identifier: Apache-2.0 */
/* test_statements.c - what persists between the calls of a session, and what is reported if it
 * does not. */
#include "fake.h"

#include "executor/options.h"
#include "executor/run/pool.h"
#include "executor/run/queue.h"
#include "executor/runtime.h"
#include "executor/tools/run_tools.h"
#include "executor/tools/session_tools.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *id; /* of the session of a test */

/* waits: there is no box for it, so that a workspace has to be made. */
static char *
new_session(bool waits)
{
	struct fake_call *c = fake_call(MSG_create_session, "ann");
	struct create_session ask = { 0 };
	struct err e;
	char *made;

	assert_int_equal(session_tools_on_create_session(&c->call, &ask, &e), 0);
	if (waits)
		fake_make(NULL);
	assert_int_equal(c->ended, 1);
	made = take_ptr(c->reply.session_created.session_id);
	fake_forget(c);
	return made;
}

static int
begin(void **state)
{
	struct err e;

	(void)state;
	fake_reset();
	if (fake_options(&e) < 0 || runtime_open(&e) < 0 || session_id_open(&e) < 0)
		return -1;
	options.max_concurrent = 4;
	id = new_session(true);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	session_end_all();
	fake_bury();
	free(id);
	assert_int_equal(fake.boxes, 0);
	assert_int_equal(fake.programs, 0);
	assert_int_equal(fake.workspaces, 0);
	assert_int_equal(queue_counts()->running, 0);
	return 0;
}

static struct fake_call *
start(struct execute_code ask)
{
	struct fake_call *c = fake_call(MSG_execute_code, "ann");
	struct err e;

	ask.code = blob_text("x = 1");
	ask.session_id = id;
	ask.capture_output = true;
	if (run_tools_on_execute_code(&c->call, &ask, &e) < 0)
		call_fail(&c->call, &e);
	blob_clear(&ask.code);
	return c;
}

static struct box_end
well(void)
{
	return (struct box_end){ .out = blob_text(""), .err = blob_text("") };
}

static bool
has_note(const struct fake_call *c, const char *words)
{
	const struct texts *notes = &c->reply.execution.notes;

	for (size_t i = 0; i < notes->count; i++)
		if (strstr(notes->items[i], words) != NULL)
			return true;
	return false;
}

/* One statement that goes well. */
static void
pass(const char *start_word, const char *note)
{
	struct fake_call *c = start((struct execute_code){ 0 });

	fake_end_run(well());
	assert_true(c->reply.execution.success);
	assert_string_equal(c->reply.execution.usage->start, start_word);
	if (note == NULL)
		assert_int_equal(c->reply.execution.notes.count, 0);
	else
		assert_true(has_note(c, note));
	fake_forget(c);
}

static void
keeps_one_interpreter(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		pass("warm", NULL);
	assert_int_equal(fake.forked, 1);
	assert_int_equal(fake.boxes, 1);
}

static void
make_all(void)
{
	while (fake_find(FAKE_WORKSPACE) != NULL || fake_ready())
		if (fake_find(FAKE_WORKSPACE) != NULL)
			fake_make(NULL);
}

static void
empty_pool(void)
{
	make_all();
	pool_stop();
	fake_bury();
}

static void
moves_in_where_one_waits(void **state)
{
	const struct err fine = { .code = ERR_none };
	size_t forked;

	(void)state;
	pool_start();
	make_all();
	forked = fake.forked;
	free(id);
	id = new_session(false);
	pass("warm", NULL);
	pass("warm", NULL);
	assert_int_equal(fake.forked, forked);
	empty_pool();
	assert_int_equal(fake.boxes, 1);
	assert_true(fake_die(&fine));
	pass("warm", "had ended, and a new one");
}

/* Nothing was in it, so nothing was lost. */
static void
is_silent_of_one_that_had_no_statement(void **state)
{
	const struct err fine = { .code = ERR_none };

	(void)state;
	pool_start();
	make_all();
	free(id);
	id = new_session(false);
	empty_pool();
	assert_true(fake_die(&fine));
	assert_int_equal(fake.programs, 0);
	pass("warm", NULL);
}

static void
has_one_of_each_language_in_one_box(void **state)
{
	static char shell[] = "shell";
	struct fake_call *c;

	(void)state;
	pass("warm", NULL);
	c = start((struct execute_code){ .language = shell });
	fake_end_run(well());
	assert_string_equal(c->reply.execution.usage->start, "cold");
	fake_forget(c);
	pass("warm", NULL);
	assert_int_equal(fake.programs, 2);
	assert_int_equal(fake.boxes, 1);
}

static void
starts_another_where_one_ended(void **state)
{
	struct fake_call *c;

	(void)state;
	pass("warm", NULL);
	c = start((struct execute_code){ 0 });
	fake_end_run((struct box_end){ .exit_code = 3, .program_gone = true });
	assert_int_equal(c->reply.execution.exit_code, 3);
	assert_true(has_note(c, "variables and imports are lost"));
	fake_forget(c);
	/* It was said already. */
	pass("warm", NULL);
	assert_int_equal(fake.forked, 2);
	assert_int_equal(fake.boxes, 1);
}

static void
says_that_one_died_between_calls(void **state)
{
	const struct err fine = { .code = ERR_none };

	(void)state;
	pass("warm", NULL);
	assert_true(fake_die(&fine));
	pass("warm", "had ended, and a new one");
	pass("warm", NULL);
}

static void
makes_another_box_after_memory_ran_out(void **state)
{
	static char shell[] = "shell";
	struct fake_call *c;

	(void)state;
	pass("warm", NULL);
	c = start((struct execute_code){ .language = shell });
	fake_end_run(well());
	fake_forget(c);
	c = start((struct execute_code){ 0 });
	fake_end_run((struct box_end){ .how = BOX_OUT_OF_MEMORY });
	assert_string_equal(c->reply.execution.error->code, "out_of_memory");
	fake_forget(c);
	assert_int_equal(fake.boxes, 0);
	assert_int_equal(fake.workspaces, 1);
	pass("warm", NULL);
	/* The shell had no part in it and lost its state. */
	c = start((struct execute_code){ .language = shell });
	fake_end_run(well());
	assert_true(has_note(c, "had ended, and a new one"));
	fake_forget(c);
}

static void
keeps_what_is_interrupted(void **state)
{
	struct fake_call *c = start((struct execute_code){ 0 });

	(void)state;
	fake_end_run((struct box_end){ .how = BOX_TIMED_OUT, .signal = 2 });
	assert_true(c->reply.execution.timed_out);
	assert_true(has_note(c, "are kept"));
	fake_forget(c);
	c = start((struct execute_code){ 0 });
	c->call.on_cancel(&c->call, ERR_cancelled);
	assert_true(fake_find(FAKE_RUN)->killed);
	fake_end_run(well());
	assert_int_equal(c->why.code, ERR_cancelled);
	fake_forget(c);
	pass("warm", NULL);
	assert_int_equal(fake.forked, 1);
}

static void
refuses_another_box_by_name(void **state)
{
	static char same[] = "512m", other[] = "256m";
	struct resource_limits cores = { .max_cpu_cores = 0.5 };
	struct resource_limits time = { .timeout_seconds = 1, .max_output_bytes = 10 };
	struct fake_call *c = start((struct execute_code){ .memory_limit = other });

	(void)state;
	assert_int_equal(c->why.code, ERR_invalid_argument);
	assert_non_null(strstr(c->why.text, "memory_limit: cannot change in an existing session"));
	fake_forget(c);
	c = start((struct execute_code){ .resource_limits = &cores });
	assert_non_null(strstr(c->why.text, "max_cpu_cores"));
	fake_forget(c);
	c = start((struct execute_code){ .memory_limit = same, .resource_limits = &time });
	fake_end_run(well());
	assert_true(c->reply.execution.success);
	fake_forget(c);
}

static struct fake_call *
bridge(const char *key, size_t size)
{
	struct fake_call *c = fake_call(MSG_bridge_data, "ann");
	struct bridge_data ask = { .session_id = id, .key = (char *)(uintptr_t)key };
	struct err e;

	ask.data = (struct blob){ calloc(1, size), size };
	memset(ask.data.data, '1', size);
	if (session_tools_on_bridge_data(&c->call, &ask, &e) < 0)
		call_fail(&c->call, &e);
	blob_clear(&ask.data);
	return c;
}

static void
hands_data_to_all_its_programs(void **state)
{
	static char shell[] = "shell";
	struct fake_call *c;

	(void)state;
	fake_forget(bridge("before", 1));
	assert_int_equal(fake.bridged, 0);
	pass("warm", NULL);
	assert_int_equal(fake.bridged, 1);
	fake_forget(bridge("before", 2));
	fake_forget(bridge("later", 1));
	assert_int_equal(fake.bridged, 3);
	c = start((struct execute_code){ .language = shell });
	fake_end_run(well());
	fake_forget(c);
	assert_int_equal(fake.bridged, 5);
	c = bridge("no name", 1);
	assert_int_equal(c->why.code, ERR_invalid_argument);
	fake_forget(c);
}

static void
bounds_the_data(void **state)
{
	struct fake_call *c;
	char key[] = "k00";

	(void)state;
	for (int i = 0; i < 8; i++) {
		key[2] = (char)('0' + i);
		fake_forget(bridge(key, 1 << 20));
	}
	c = bridge("more", 1);
	assert_int_equal(c->why.code, ERR_limit_exceeded);
	fake_forget(c);
	/* Another value makes room. */
	fake_forget(bridge("k00", 1));
	for (int i = 8; i < 64; i++) {
		key[1] = (char)('0' + i / 10);
		key[2] = (char)('0' + i % 10);
		fake_forget(bridge(key, 1));
	}
	c = bridge("k64", 1);
	assert_int_equal(c->why.code, ERR_limit_exceeded);
	fake_forget(c);
}

static void
makes_room_where_it_may(void **state)
{
	struct create_session ask = { 0 };
	struct fake_call *c;
	char *second;
	struct err e;

	(void)state;
	options.max_sessions_each = 2;
	fake_pass(1000);
	second = new_session(true);
	fake_pass(1000);
	pass("warm", NULL);
	c = fake_call(MSG_create_session, "ann");
	assert_int_equal(session_tools_on_create_session(&c->call, &ask, &e), -1);
	assert_int_equal(e.code, ERR_session_limit);
	free(c);
	options.session_evict = true;
	free(new_session(true));
	assert_int_equal(fake_count(event_session_expired), 1);
	/* The first was used since. */
	pass("warm", NULL);
	/* Nobody's is ended for another's. */
	options.max_sessions = 2;
	c = fake_call(MSG_create_session, "bob");
	assert_int_equal(session_tools_on_create_session(&c->call, &ask, &e), -1);
	assert_int_equal(e.code, ERR_session_limit);
	free(c);
	free(second);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(keeps_one_interpreter, begin, end),
		cmocka_unit_test_setup_teardown(moves_in_where_one_waits, begin, end),
		cmocka_unit_test_setup_teardown(is_silent_of_one_that_had_no_statement, begin, end),
		cmocka_unit_test_setup_teardown(has_one_of_each_language_in_one_box, begin, end),
		cmocka_unit_test_setup_teardown(starts_another_where_one_ended, begin, end),
		cmocka_unit_test_setup_teardown(says_that_one_died_between_calls, begin, end),
		cmocka_unit_test_setup_teardown(makes_another_box_after_memory_ran_out, begin, end),
		cmocka_unit_test_setup_teardown(keeps_what_is_interrupted, begin, end),
		cmocka_unit_test_setup_teardown(refuses_another_box_by_name, begin, end),
		cmocka_unit_test_setup_teardown(hands_data_to_all_its_programs, begin, end),
		cmocka_unit_test_setup_teardown(bounds_the_data, begin, end),
		cmocka_unit_test_setup_teardown(makes_room_where_it_may, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
