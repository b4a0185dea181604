/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_task.c - a task from creation to end, with real files; the bus and the completion of thread
 * work are played.
 */
#include "executor/kept/change.h"
#include "executor/kept/task.h"
#include "executor/kept/task_file.h"
#include "executor/options.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/work.h"
#include "common/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct options options;

struct played {
	struct call call; /* first */
	unsigned ended;
	struct err why;
	struct task_report reply;
};

static struct {
	char path[64], id[128];
	int directory, disk_errno;
	struct played run; /* the request of a program, number 7 */
	bool run_there, stopped;
	void (*run_ended)(void *self, struct packed *content, const struct err *e);
	void *run_self;
	struct work *work; /* given to a thread, not done yet */
	unsigned changes;
} self;

/* ---- what the executor stands on ---- */

const char *
daemon_instance(void)
{
	return "one_two";
}

int64_t
loop_now_ms(void)
{
	return 1;
}

int
fsync(int fd)
{
	(void)fd;
	errno = self.disk_errno;
	return self.disk_errno == 0 ? 0 : -1;
}

void
work_do(struct work *work)
{
	assert_null(self.work);
	self.work = work;
}

void
change_add(const struct owner *owner, enum subject what, const char *id)
{
	assert_string_equal(owner->principal, "local:7");
	assert_string_equal(owner->namespace, "");
	assert_int_equal(what, subject_task);
	assert_string_equal(id, self.id);
	self.changes++;
}

struct call *
call_beside(const struct call *call, uint64_t id)
{
	(void)call;
	return id == 7 && self.run_there ? &self.run.call : NULL;
}

void
call_adopt(struct call *call,
    void (*ended)(void *self, struct packed *content, const struct err *e), void *ended_self)
{
	assert_ptr_equal(call, &self.run.call);
	self.run_there = false;
	self.run_ended = ended;
	self.run_self = ended_self;
}

void
call_stop(struct call *call)
{
	assert_ptr_equal(call, &self.run.call);
	self.stopped = true;
}

void
call_reply(struct call *call, void *reply)
{
	struct played *p = (struct played *)call;

	p->ended++;
	if (call->message == MSG_cancel_task)
		return;
	p->reply = *(struct task_report *)reply;
	memset(reply, 0, sizeof p->reply);
}

void
call_fail(struct call *call, const struct err *e)
{
	struct played *p = (struct played *)call;

	p->ended++;
	p->why = *e;
}

/* ---- a script ---- */

static struct played
ask_of(enum msg_id message)
{
	return (struct played){ .call = { .message = message, .owner = { "local:7", "" } } };
}

static void
do_work(void)
{
	struct work *work = take_ptr(self.work);

	assert_non_null(work);
	work->run(work);
	work->done(work);
}

static int
start(void **state)
{
	(void)state;
	memset(&self, 0, sizeof self);
	snprintf(self.path, sizeof self.path, "/tmp/cloister-task-XXXXXX");
	if (mkdtemp(self.path) == NULL)
		return -1;
	self.directory = open(self.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	self.run = ask_of(MSG_execute_code);
	self.run_there = true;
	options.task_ttl_ms = 60000;
	options.max_tasks = 3;
	options.task_bytes = 1 << 20;
	task_open(self.directory);
	return 0;
}

static int
stop(void **state)
{
	char command[128];

	(void)state;
	task_open(-1);
	close(self.directory);
	snprintf(command, sizeof command, "rm -rf '%s'", self.path);
	return system(command);
}

static int
keep(struct played *asked, struct err *e)
{
	struct keep_task request = { .request = 7 };

	*asked = ask_of(MSG_keep_task);
	return task_on_keep_task(&asked->call, &request, e);
}

/* The task is made. */
static void
make(void)
{
	struct played asked;
	struct err e;

	self.run_there = true;
	assert_int_equal(keep(&asked, &e), 0);
	assert_int_equal(asked.ended, 0); /* not before it is on the disk */
	assert_true(self.run_there);
	do_work();
	assert_int_equal(asked.ended, 1);
	assert_int_equal(asked.why.code, ERR_none);
	assert_int_equal(asked.reply.state, task_state_working);
	snprintf(self.id, sizeof self.id, "%s", asked.reply.task_id);
	assert_memory_equal(self.id, "task_one_two_", 13);
	assert_int_equal(strlen(self.id), 13 + 32);
	message_clear(MSG_task_report, &asked.reply);
	assert_false(self.run_there);
}

static int
get(struct played *asked, struct err *e)
{
	struct get_task request = { .task_id = self.id };

	return task_on_get_task(&asked->call, &request, e);
}

static void
expect(int state)
{
	struct played asked = ask_of(MSG_get_task);
	struct err e;

	assert_int_equal(get(&asked, &e), 0);
	assert_int_equal(asked.ended, 1);
	assert_int_equal(asked.reply.state, state);
	message_clear(MSG_task_report, &asked.reply);
}

static void
end_run(const char *text)
{
	struct packed content = {
		.body = blob_text(text), .blobs = calloc(1, sizeof *content.blobs), .count = 1
	};

	content.blobs[0] = blob_text("frame");
	self.run_ended(self.run_self, &content, NULL);
	packed_clear(&content);
}

/* ---- tests ---- */

static void
its_end_is_said_once_it_is_on_the_disk(void **state)
{
	struct played asked = ask_of(MSG_get_task);
	struct err e;

	(void)state;
	make();
	expect(task_state_working);
	end_run("body");
	assert_int_equal(get(&asked, &e), 0);
	assert_int_equal(asked.ended + self.changes, 0);
	do_work();
	assert_int_equal(asked.ended, 1);
	assert_int_equal(self.changes, 1);
	assert_int_equal(asked.reply.state, task_state_completed);
	assert_string_equal(asked.reply.message, "execute_code");
	assert_memory_equal(asked.reply.reply.data, "body", 4);
	assert_int_equal(asked.reply.parts.count, 1);
	assert_memory_equal(asked.reply.parts.items[0].data.data, "frame", 5);
	message_clear(MSG_task_report, &asked.reply);
	expect(task_state_completed);
}

static void
keeps_why_a_request_failed(void **state)
{
	struct played asked = ask_of(MSG_get_task);
	struct err e;

	(void)state;
	make();
	err_set(&e, ERR_session_expired, "gone");
	self.run_ended(self.run_self, NULL, &e);
	do_work();
	assert_int_equal(get(&asked, &e), 0);
	assert_int_equal(asked.reply.state, task_state_completed);
	assert_string_equal(asked.reply.failure->code, "session_expired");
	assert_string_equal(asked.reply.failure->text, "gone");
	message_clear(MSG_task_report, &asked.reply);
}

static void
is_cancelled(void **state)
{
	struct cancel_task request = { .task_id = self.id };
	struct played asked = ask_of(MSG_cancel_task), again = asked;
	struct err e;

	(void)state;
	make();
	assert_int_equal(task_on_cancel_task(&asked.call, &request, &e), 0);
	assert_true(self.stopped);
	assert_int_equal(asked.ended, 0);
	do_work();
	expect(task_state_cancelled);
	assert_int_equal(task_on_cancel_task(&again.call, &request, &e), 0);
	assert_int_equal(again.ended, 1);
	end_run("too late");
	assert_int_equal(asked.ended, 1);
	expect(task_state_cancelled);
}

static void
is_its_owners_only(void **state)
{
	static const struct owner others[] = { { "local:8", "" }, { "local:7", "n" } };

	(void)state;
	make();
	for (int ended = 0; ended < 2; ended++) {
		for (size_t i = 0; i < COUNT(others); i++) {
			struct played asked = ask_of(MSG_get_task);
			struct cancel_task request = { .task_id = self.id };
			struct err e;

			asked.call.owner = others[i];
			assert_int_equal(get(&asked, &e), -1);
			assert_int_equal(e.code, ERR_not_found);
			assert_int_equal(task_on_cancel_task(&asked.call, &request, &e), -1);
			assert_int_equal(e.code, ERR_not_found);
			assert_false(self.stopped);
		}
		if (!ended) {
			end_run("body");
			do_work();
		}
	}
}

/* Nor of a request of another, or of a kind that is short. */
static void
is_made_of_the_callers_own_request_only(void **state)
{
	static const struct {
		enum msg_id message;
		struct owner owner;
	} others[] = { { MSG_execute_code, { "local:8", "" } },
		{ MSG_execute_code, { "local:7", "n" } },
		{ MSG_create_session, { "local:7", "" } } };
	struct played asked;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(others); i++) {
		self.run.call.message = others[i].message;
		self.run.call.owner = others[i].owner;
		assert_int_equal(keep(&asked, &e), -1);
		assert_int_equal(e.code, ERR_not_found);
	}
	assert_null(self.work);
}

static void
is_not_made_where_it_cannot_be_stored(void **state)
{
	struct played asked;
	struct err e;

	(void)state;
	assert_int_equal(keep(&asked, &e), 0);
	self.disk_errno = EIO;
	do_work();
	assert_int_equal(asked.ended, 1);
	assert_int_equal(asked.why.code, ERR_internal);
	assert_true(self.run_there); /* and goes on as it is */
	self.disk_errno = 0;
	assert_int_equal(keep(&asked, &e), 0);
	self.run_there = false; /* it has ended meanwhile */
	do_work();
	assert_int_equal(asked.why.code, ERR_not_found);
	for (uint64_t i = 0; i < options.max_tasks; i++)
		make();
	self.run_there = true;
	assert_int_equal(keep(&asked, &e), -1);
	assert_int_equal(e.code, ERR_limit_exceeded);
	task_open(-1);
	assert_int_equal(keep(&asked, &e), -1);
	assert_int_equal(e.code, ERR_unavailable);
}

static void
has_failed_where_its_end_was_not_stored(void **state)
{
	struct played asked = ask_of(MSG_get_task);
	struct err e;

	(void)state;
	make();
	end_run("body");
	self.disk_errno = EIO;
	do_work();
	assert_int_equal(self.changes, 1);
	assert_int_equal(get(&asked, &e), 0);
	assert_int_equal(asked.reply.state, task_state_failed);
	assert_string_equal(asked.reply.failure->code, "internal");
	message_clear(MSG_task_report, &asked.reply);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    its_end_is_said_once_it_is_on_the_disk, start, stop),
		cmocka_unit_test_setup_teardown(keeps_why_a_request_failed, start, stop),
		cmocka_unit_test_setup_teardown(is_cancelled, start, stop),
		cmocka_unit_test_setup_teardown(is_its_owners_only, start, stop),
		cmocka_unit_test_setup_teardown(
		    is_made_of_the_callers_own_request_only, start, stop),
		cmocka_unit_test_setup_teardown(is_not_made_where_it_cannot_be_stored, start, stop),
		cmocka_unit_test_setup_teardown(
		    has_failed_where_its_end_was_not_stored, start, stop),
	};

	return cmocka_run_group_tests_name("task", tests, NULL, NULL);
}
