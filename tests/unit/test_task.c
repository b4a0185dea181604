/* SPDX-License-Identifier: Apache-2.0 */
/* test_task.c - a task's life as its client and others see it. */
#include "tests/unit/dialog.h"

#include "gateway/mcp/extra.h"
#include "gateway/options.h"
#include "gateway/task/record.h"
#include "gateway/task/task.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KNOWS \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":{\"extensions\":{" \
	"\"io.modelcontextprotocol/tasks\":{}}}}"
#define RUN REQUEST("1", "tools/call", "\"name\":\"job\"," KNOWS)

/* Of fsync(), called by threads. */
static struct {
	pthread_mutex_t lock; /* held: the disk is busy */
	char synced[512];     /* below the folder, in order */
	int error;
} disk = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct {
	struct pending job;
	struct origin to;
	char path[64], id[64], got[64];
	int folder;
	bool cancelled;
} self;

int
fsync(int fd)
{
	char link[64], path[256] = "";

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	must(readlink(link, path, sizeof path - 1) > 0);
	pthread_mutex_lock(&disk.lock);

	size_t n = strlen(disk.synced);
	int error = disk.error;

	snprintf(disk.synced + n, sizeof disk.synced - n, "%s ", path + strlen(self.path));
	pthread_mutex_unlock(&disk.lock);
	errno = error;
	return error == 0 ? 0 : -1;
}

static void
on_cancel(struct pending *p)
{
	self.cancelled = true;
	client_end(p, NULL);
}

/* A tool that runs until a test ends it. */
static bool
call(const struct request *r, const char *name, json_t *arguments, json_t **answer)
{
	(void)name;
	(void)arguments;
	if (task_new(r->origin.client->account, &r->origin, &self.to) == NULL) {
		*answer = method_complete(r, json_pack("{s:b}", "noTask", 1));
		return true;
	}
	client_begin(&self.job, &self.to, on_cancel);
	json_decref(self.to.id);
	task_promise(self.to.client, &r->origin);
	*answer = NULL;
	return true;
}

static int
start(void **state)
{
	static const struct extra more = { .call = call };

	struct err e;

	memset(&self, 0, sizeof self);
	disk.synced[0] = '\0';
	disk.error = 0;
	if (loop_open(&e) < 0)
		return -1;
	snprintf(self.path, sizeof self.path, "/tmp/cloister-task-XXXXXX");
	if (mkdtemp(self.path) == NULL)
		return -1;
	self.folder = open(self.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	task_open(self.folder);
	extra_set(&more);
	options.task_ttl_ms = 60000;
	options.max_tasks = 3;
	options.task_bytes = 1 << 20;
	return dialog_start(state);
}

static int
stop(void **state)
{
	char command[128];

	task_stop();
	loop_close();
	task_open(-1);
	close(self.folder);
	snprintf(command, sizeof command, "rm -rf '%s'", self.path);
	return system(command) | dialog_stop(state);
}

static const char *
at(const char *path)
{
	const char *text = json_string_value(dialog_at(path));

	return text == NULL ? "" : text;
}

static void
look(void *none)
{
	(void)none;
	if (dialog.nsaid > 0)
		loop_stop();
	else
		loop_after(1, look, NULL);
}

/* Until the client is answered. */
static void
wait_for_it(void)
{
	struct err e;

	look(NULL);
	assert_int_equal(loop_run(&e), 0);
}

static void
run(void)
{
	dialog_forget();
	dialog_say(RUN);
	wait_for_it();
	assert_string_equal(at("result.resultType"), "task");
	assert_string_equal(at("result.status"), "working");
	snprintf(self.id, sizeof self.id, "%s", at("result.taskId"));
}

/* tasks/<what> of it. */
static void
begin_to_ask(const char *what, const char *more)
{
	static int id = 100;
	auto_free char *line = NULL;

	assert_true(asprintf(&line,
			"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tasks/%s\",\"params\":{"
			"\"taskId\":\"%s\"%s," KNOWS "}}",
			id++, what, self.id, more) > 0);
	dialog_forget();
	dialog_say(line);
}

static void
ask(const char *what, const char *more)
{
	begin_to_ask(what, more);
	if (dialog.nsaid == 0)
		wait_for_it();
}

static void
end_with(const char *member, json_t *value)
{
	client_end(
	    &self.job, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "id", "x", member, value));
}

static void
is_told_to_its_principal_only(void **state)
{
	struct account other = { .principal = "local:8" },
		       elsewhere = { .principal = "local:7", .namespace = "n" };
	struct account *const strangers[] = { &other, &elsewhere };

	(void)state;
	run();
	for (int ended = 0; ended < 2; ended++) {
		for (size_t i = 0; i < COUNT(strangers); i++) {
			static const char *const verbs[] = { "get", "cancel", "update" };

			dialog.client.account = strangers[i];
			assert_false(task_exists(strangers[i], self.id));
			for (size_t k = 0; k < COUNT(verbs); k++) {
				ask(verbs[k], ",\"inputResponses\":{}");
				assert_int_equal(
				    json_integer_value(dialog_at("error.code")), RPC_PARAMS);
			}
		}
		dialog.client.account = &dialog.account;
		assert_false(self.cancelled);
		ask("get", "");
		assert_string_equal(at("result.status"), ended ? "completed" : "working");
		if (!ended)
			end_with("result", json_pack("{s:s}", "said", "done"));
	}
	assert_string_equal(at("result.result.said"), "done");
}

static void
got(void *none, const char *key, const json_t *response)
{
	(void)none;
	snprintf(self.got + strlen(self.got), sizeof self.got - strlen(self.got), "%s=%s;", key,
	    json_string_value(json_object_get(response, "action")));
}

static void
asks_while_it_runs(void **state)
{
	(void)state;
	run();
	task_ask(self.to.client, "one", "elicitation/create", json_object(), got, NULL);
	task_ask(self.to.client, "two", "elicitation/create", json_object(), got, NULL);
	ask("get", "");
	assert_string_equal(at("result.status"), "input_required");
	assert_string_equal(at("result.inputRequests.one.method"), "elicitation/create");
	ask("update",
	    ",\"inputResponses\":{\"two\":{\"action\":\"decline\"},\"three\":{},\"one\":5}");
	assert_string_equal(at("result.resultType"), "complete");
	assert_string_equal(self.got, "two=decline;");
	ask("update", ",\"inputResponses\":{\"two\":{\"action\":\"accept\"}}");
	assert_string_equal(self.got, "two=decline;"); /* it was answered before */
	ask("get", "");
	assert_string_equal(at("result.status"), "input_required");
	assert_null(dialog_at("result.inputRequests.two"));
	ask("update", ",\"inputResponses\":{\"one\":{\"action\":\"accept\"}}");
	ask("get", "");
	assert_string_equal(at("result.status"), "working");
	assert_string_equal(self.got, "two=decline;one=accept;");
	end_with("result", json_object());
}

static void
ends_in_each_way(void **state)
{
	(void)state;
	run();
	end_with("error", json_pack("{s:i, s:s}", "code", -32603, "message", "broke"));
	ask("get", "");
	assert_string_equal(at("result.status"), "failed");
	assert_string_equal(at("result.error.message"), "broke");
	assert_null(dialog_at("result.result"));
	run();
	ask("cancel", "");
	assert_string_equal(at("result.resultType"), "complete");
	assert_null(dialog_at("result.taskId"));
	assert_true(self.cancelled);
	ask("get", "");
	assert_string_equal(at("result.status"), "cancelled");
	ask("cancel", "");
	assert_string_equal(at("result.resultType"), "complete");
}

static void
is_not_made_without_room(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < options.max_tasks; i++) {
		run();
		end_with("result", json_object());
	}
	dialog_forget();
	dialog_say(RUN);
	assert_true(json_is_true(dialog_at("result.noTask")));
	task_stop();
	task_open(-1);
	dialog_forget();
	dialog_say(RUN);
	assert_true(json_is_true(dialog_at("result.noTask")));
}

static void
is_over_when_its_time_is(void **state)
{
	(void)state;
	run();
	end_with("result", json_object());
	ask("get", "");
	assert_string_equal(at("result.status"), "completed");
	options.task_ttl_ms = 0;
	usleep(1100000); /* times are told by the second */
	ask("get", "");
	assert_int_equal(json_integer_value(dialog_at("error.code")), RPC_PARAMS);
}

static void
on_time_up(void *none)
{
	(void)none;
	loop_stop();
}

/* The loop goes on, and the client hears of nothing. */
static void
nothing_is_said(void)
{
	struct err e;

	loop_after(50, on_time_up, NULL);
	assert_int_equal(loop_run(&e), 0);
	assert_int_equal(dialog.nsaid, 0);
}

/* The disk does not answer. */
static void
begin_on_a_busy_disk(void)
{
	pthread_mutex_lock(&disk.lock);
	dialog_say(RUN);
	nothing_is_said();
	assert_string_equal(disk.synced, "");
}

static void
is_told_of_once_it_is_on_the_disk(void **state)
{
	char all[256], owner[33] = "";

	(void)state;
	begin_on_a_busy_disk();
	pthread_mutex_unlock(&disk.lock);
	wait_for_it();
	assert_string_equal(at("result.status"), "working");
	assert_int_equal(sscanf(disk.synced, "/tasks/%32[0-9a-f]/", owner), 1);
	snprintf(all, sizeof all, "/tasks/%s/%s.run /tasks/%s /tasks  ", owner, at("result.taskId"),
	    owner);
	assert_string_equal(disk.synced, all);
	end_with("result", json_object());
}

static void
is_not_told_of_where_the_disk_fails(void **state)
{
	(void)state;
	disk.error = EIO;
	dialog_say(RUN);
	wait_for_it();
	assert_int_equal(json_integer_value(dialog_at("error.code")), RPC_INTERNAL);
	assert_true(self.cancelled);
}

/* Who does not wait for it will not have its id. */
static void
ends_where_nobody_hears_of_it(void **state)
{
	(void)state;
	begin_on_a_busy_disk();
	client_give_up(&dialog.client, true);
	assert_false(self.cancelled);
	pthread_mutex_unlock(&disk.lock);
	while (dialog.client.pending != NULL) {
		struct err e;

		loop_after(1, on_time_up, NULL);
		assert_int_equal(loop_run(&e), 0);
	}
	assert_true(self.cancelled);
	assert_int_equal(dialog.nsaid, 0);
}

/* Its gateway ends while the disk is busy. */
static void
is_told_of_at_the_end(void **state)
{
	(void)state;
	dialog_say(RUN);
	task_stop();
	assert_string_equal(at("result.status"), "working");
	assert_non_null(strstr(disk.synced, ".run "));
	end_with("result", json_object());
}

static void
subscribe(void)
{
	auto_free char *line = NULL;

	assert_true(asprintf(&line,
			REQUEST("3", "subscriptions/listen",
			    "\"notifications\":{\"taskIds\":[\"%s\"]}," KNOWS),
			self.id) > 0);
	dialog_say(line);
}

/* As another gateway sees it. */
static void
is_seen_as(const char *status)
{
	char owner[RECORD_OWNER];
	bool lost;

	record_owner(dialog.account.principal, dialog.account.namespace, owner);

	json_t *value = record_read(owner, self.id, &lost);

	assert_string_equal(json_string_value(json_object_get(value, "status")), status);
	assert_false(lost);
	json_decref(value);
}

static void
ends_once_that_is_on_the_disk(void **state)
{
	static const char *const verbs[] = { "cancel", "get" };

	(void)state;
	for (size_t i = 0; i < COUNT(verbs); i++) {
		char all[256], owner[RECORD_OWNER];

		run();
		subscribe();
		disk.synced[0] = '\0';
		pthread_mutex_lock(&disk.lock);
		end_with("result", json_object());
		begin_to_ask(verbs[i], "");
		nothing_is_said();
		is_seen_as("working");
		assert_string_equal(disk.synced, "");
		pthread_mutex_unlock(&disk.lock);
		wait_for_it();
		is_seen_as("completed");
		assert_int_equal(dialog.nsaid, 2);
		assert_string_equal(json_string_value(json_object_get(dialog.said[0], "method")),
		    "notifications/tasks");
		assert_string_equal(at("result.resultType"), "complete");
		assert_string_equal(at("result.status"), i == 0 ? "" : "completed");
		record_owner(dialog.account.principal, dialog.account.namespace, owner);
		snprintf(all, sizeof all, "/tasks/%s/%s.new /tasks/%s ", owner, self.id, owner);
		assert_string_equal(disk.synced, all);
		client_give_up(&dialog.client, true);
	}
}

static void
has_failed_where_its_end_was_not_kept(void **state)
{
	(void)state;
	run();
	disk.error = EIO;
	end_with("result", json_object());
	for (size_t i = 0; i < 2; i++) { /* as it was told, so it stays */
		ask("get", "");
		assert_string_equal(at("result.status"), "failed");
		assert_null(dialog_at("result.result"));
	}
}

/* What waits for an end that the disk is slow to take is bounded; the rest is told what is so. */
static void
runs_for_whoever_cannot_wait(void **state)
{
	(void)state;
	run();
	pthread_mutex_lock(&disk.lock);
	end_with("result", json_object());
	for (size_t i = 0; i < 64; i++) {
		begin_to_ask("get", "");
		assert_int_equal(dialog.nsaid, 0);
	}
	begin_to_ask("get", "");
	assert_string_equal(at("result.status"), "working");
	client_give_up(&dialog.client, true); /* and those who wait may go */
	pthread_mutex_unlock(&disk.lock);
	task_stop();
	assert_int_equal(dialog.nsaid, 1);
	ask("get", "");
	assert_string_equal(at("result.status"), "completed");
}

/* Its gateway ends before the disk is done. */
static void
ends_as_its_gateway_does(void **state)
{
	(void)state;
	run();
	end_with("result", json_object());
	begin_to_ask("get", "");
	task_stop();
	assert_string_equal(at("result.status"), "completed");
	is_seen_as("completed");
}

static void
fails_with_its_gateway(void **state)
{
	(void)state;
	run();
	self.job.cancel = on_cancel;
	task_close();
	ask("get", "");
	assert_string_equal(at("result.status"), "failed");
	assert_int_equal(json_integer_value(dialog_at("result.error.code")), RPC_INTERNAL);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, start, stop)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(is_told_to_its_principal_only), CASE(asks_while_it_runs),
		CASE(ends_in_each_way), CASE(is_not_made_without_room),
		CASE(is_over_when_its_time_is), CASE(is_told_of_once_it_is_on_the_disk),
		CASE(is_not_told_of_where_the_disk_fails), CASE(ends_where_nobody_hears_of_it),
		CASE(is_told_of_at_the_end), CASE(ends_once_that_is_on_the_disk),
		CASE(has_failed_where_its_end_was_not_kept), CASE(runs_for_whoever_cannot_wait),
		CASE(ends_as_its_gateway_does),
		CASE(fails_with_its_gateway), /* last: it has ended then */
	};

	return cmocka_run_group_tests_name("task", tests, NULL, NULL);
}
