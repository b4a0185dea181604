/* SPDX-License-Identifier: Apache-2.0 */
/* test_change.c - changes are reported to gateways that ask in time, late, or not at all. */
#include "executor/kept/change.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct played {
	struct call call; /* first */
	unsigned ended;
	struct err why;
	struct change_list reply;
};

static int64_t now_ms = 1000;
static void (*timer)(void *self);

int64_t
loop_now_ms(void)
{
	return now_ms;
}

uint64_t
loop_after(int64_t ms, void (*fire)(void *self), void *self)
{
	(void)ms;
	(void)self;
	assert_null(timer);
	timer = fire;
	return 1;
}

void
call_reply(struct call *call, void *reply)
{
	struct played *p = (struct played *)call;

	p->ended++;
	p->reply = *(struct change_list *)reply;
	memset(reply, 0, sizeof p->reply);
}

void
call_fail(struct call *call, const struct err *e)
{
	struct played *p = (struct played *)call;

	p->ended++;
	p->why = *e;
}

static void
time_passes(void)
{
	void (*fire)(void *) = take_ptr(timer);

	if (fire != NULL)
		fire(NULL);
}

static void
ask(struct played *p, uint64_t epoch, uint64_t after)
{
	struct await_changes request = { epoch, after };
	struct err e;

	message_clear(MSG_change_list, &p->reply);
	*p = (struct played){ .call = { .message = MSG_await_changes } };
	assert_int_equal(change_on_await_changes(&p->call, &request, &e), 0);
}

/* Asked for the first time, and so at once told the numbering. */
static int
start(void **state)
{
	static struct played p;

	change_open();
	ask(&p, 0, 0);
	assert_int_equal(p.ended, 1);
	assert_true(p.reply.missed);
	assert_true(p.reply.epoch != 0);
	assert_int_equal(p.reply.items.count, 0);
	*state = &p;
	return 0;
}

static int
stop(void **state)
{
	struct played *p = *state;

	change_close();
	timer = NULL;
	message_clear(MSG_change_list, &p->reply);
	return 0;
}

static void
tells_what_comes_together_at_once(void **state)
{
	struct played *p = *state;

	ask(p, p->reply.epoch, p->reply.last);
	assert_int_equal(p->ended, 0);
	change_add(&(struct owner){ "a", "" }, subject_task, "t1");
	change_add(&(struct owner){ "b", "n" }, subject_list, NULL);
	assert_int_equal(p->ended, 0);
	time_passes();
	assert_int_equal(p->ended, 1);
	assert_false(p->reply.missed);
	assert_int_equal(p->reply.items.count, 2);
	assert_string_equal(p->reply.items.items[0].principal, "a");
	assert_null(p->reply.items.items[0].namespace);
	assert_int_equal(p->reply.items.items[0].what, subject_task);
	assert_string_equal(p->reply.items.items[0].id, "t1");
	assert_string_equal(p->reply.items.items[1].namespace, "n");
}

/* Between two requests of a gateway nothing is lost. */
static void
tells_what_came_since(void **state)
{
	struct played *p = *state;

	for (unsigned i = 0; i < 300; i++)
		change_add(&(struct owner){ "a", "" }, subject_list, NULL);
	ask(p, p->reply.epoch, p->reply.last);
	assert_int_equal(p->ended, 1);
	assert_int_equal(p->reply.items.count, 256);
	ask(p, p->reply.epoch, p->reply.last);
	assert_int_equal(p->reply.items.count, 44);
	assert_false(p->reply.missed);
	ask(p, p->reply.epoch, p->reply.last);
	assert_int_equal(p->ended, 0);
}

static void
tells_the_slow_that_they_missed_some(void **state)
{
	struct played *p = *state;
	uint64_t epoch = p->reply.epoch, last = p->reply.last;

	for (unsigned i = 0; i < 1025; i++)
		change_add(&(struct owner){ "a", "" }, subject_list, NULL);
	ask(p, epoch, last);
	assert_true(p->reply.missed);
	assert_int_equal(p->reply.items.count, 0);
	assert_int_equal(p->reply.last, last + 1025);
	ask(p, epoch, INT64_MAX); /* a number that never was */
	assert_true(p->reply.missed);
}

/* Nothing is kept for nobody; who comes back is told so. */
static void
keeps_none_that_nobody_asks_for(void **state)
{
	struct played *p = *state;
	uint64_t epoch = p->reply.epoch, last = p->reply.last;

	now_ms += 3600000;
	change_add(&(struct owner){ "a", "" }, subject_list, NULL);
	ask(p, epoch, last);
	assert_int_equal(p->ended, 1);
	assert_true(p->reply.missed);
	assert_true(p->reply.epoch != epoch);
}

static void
ends_requests_that_wait(void **state)
{
	struct played *p = *state, other = { 0 };

	ask(p, p->reply.epoch, p->reply.last);
	ask(&other, 0, 0);
	ask(&other, other.reply.epoch, other.reply.last);
	other.call.on_cancel(&other.call, ERR_unavailable);
	assert_int_equal(other.ended, 1);
	change_close();
	assert_int_equal(p->ended, 1);
	assert_int_equal(p->why.code, ERR_unavailable);
	assert_int_equal(other.ended, 1);
}

/* The subjects of what was told, in order. */
static void
expect(struct played *p, const char *subjects)
{
	char all[256] = "";

	time_passes();
	assert_int_equal(p->ended, 1);
	for (size_t i = 0; i < p->reply.items.count; i++) {
		const struct changed *c = &p->reply.items.items[i];
		size_t n = strlen(all);

		snprintf(all + n, sizeof all - n, "%s:%s:%s ", word_text(SET_subject, c->what),
		    c->id != NULL ? c->id : "", c->path != NULL ? c->path : "");
	}
	assert_string_equal(all, subjects);
	ask(p, p->reply.epoch, p->reply.last);
}

static void
sees_changes_in_events_and_replies(void **state)
{
	struct played *p = *state;
	char session[] = "s", name[] = "f.txt", snapshot[] = "snap", execution[] = "x";
	struct artifact file = { .filename = name };
	struct execution run = { .session_id = session, .artifacts = { &file, 1 } };
	struct restored restored = { .session_id = session, .snapshot_id = snapshot };
	struct audit_event event = { .event = event_session_expired, .session_id = session };
	struct call call = { .message = MSG_execute_code, .owner = { "a", "" } };

	ask(p, p->reply.epoch, p->reply.last);
	change_of_event(&(struct owner){ "a", "" }, &event);
	expect(p, "session:s: list:: ");
	event = (struct audit_event){ .event = event_execution_failed, .execution_id = execution };
	change_of_event(&(struct owner){ "a", "" }, &event);
	expect(p, "execution:x: ");
	event.event = event_execution_started;
	change_of_event(&(struct owner){ "a", "" }, &event);
	change_of_reply(&call, &run);
	expect(p, "session:s: file:s:f.txt ");
	call.message = MSG_restore_state_snapshot;
	change_of_reply(&call, &restored);
	expect(p, "snapshot:snap: session:s: any_file:s: ");
	call.message = MSG_sandbox_list_artifacts; /* looks only */
	change_of_reply(&call, &(struct artifact_list){ .session_id = session });
	time_passes();
	assert_int_equal(p->ended, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tells_what_comes_together_at_once, start, stop),
		cmocka_unit_test_setup_teardown(tells_what_came_since, start, stop),
		cmocka_unit_test_setup_teardown(tells_the_slow_that_they_missed_some, start, stop),
		cmocka_unit_test_setup_teardown(keeps_none_that_nobody_asks_for, start, stop),
		cmocka_unit_test_setup_teardown(ends_requests_that_wait, start, stop),
		cmocka_unit_test_setup_teardown(sees_changes_in_events_and_replies, start, stop),
	};

	return cmocka_run_group_tests_name("change", tests, NULL, NULL);
}
