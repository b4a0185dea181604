/* SPDX-License-Identifier: Apache-2.0 */
/* test_bus.c - guarantees of the bus for peers that follow its rules, and for peers whose server
 * or client dies. */
#include "tests/unit/bus_peer.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/loop.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

static const struct peer_options plain;

static void
pair(void)
{
	peer_serve(&plain);
	peer_client(&plain);
}

static void
a_request_is_answered(void **state)
{
	(void)state;
	pair();
	struct outcome o = peer_try("echo");
	assert_true(o.replied);
	assert_string_equal(o.text, "local:7 here 00-trace");
}

static void
a_failure_keeps_code_and_text(void **state)
{
	(void)state;
	pair();
	struct outcome o = peer_try("nonsense");
	assert_false(o.replied);
	assert_int_equal(o.e.code, ERR_snapshot_corrupt);
	assert_string_equal(o.e.text, "told to fail: nonsense");
}

static void
a_shortage_is_no_fault(void **state)
{
	static const char *const texts[] = { "shortage", "shortage170", "shortage200" };

	(void)state;
	pair();
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct outcome o = peer_try(texts[i]);

		assert_int_equal(o.e.code, ERR_unavailable);
		assert_non_null(strstr(o.e.text, ": Too many open files"));
		assert_int_equal(i == 0, strstr(o.e.text, "(LimitNOFILE)") != NULL);
	}
}

/* Who asked is told that the log has the details of such a failure, so it has. */
static void
a_fault_is_logged_and_a_callers_mistake_is_not(void **state)
{
	char text[8192];
	auto_fd int log = memfd_create("log", MFD_CLOEXEC);
	auto_fd int real = dup(STDERR_FILENO);

	(void)state;
	assert_int_equal(dup2(log, STDERR_FILENO), STDERR_FILENO);
	pair();

	struct outcome mistake = peer_try("nonsense"), fault = peer_try("fault 7");
	ssize_t size = pread(log, text, sizeof text - 1, 0);

	assert_int_equal(dup2(real, STDERR_FILENO), STDERR_FILENO);
	assert_int_equal(mistake.e.code, ERR_snapshot_corrupt);
	assert_int_equal(fault.e.code, ERR_internal);
	text[size < 0 ? 0 : size] = '\0';
	assert_null(strstr(text, "told to fail: nonsense"));
	assert_non_null(strstr(text, "\"message\":\"snapshot_get\""));
	assert_non_null(strstr(text, "told to fail: fault 7"));
}

static void
parts_come_before_the_reply(void **state)
{
	(void)state;
	pair();
	struct outcome o = peer_try("stream");
	assert_int_equal(o.parts, 2);
	assert_string_equal(o.text, "streamed");
}

static void
a_cancelled_request_ends_on_both_sides(void **state)
{
	struct outcome o;

	(void)state;
	pair();
	peer_try("echo");
	peer_ask(&o, "hang", NULL, 0);
	peer_run(50);
	assert_false(o.ended);
	bus_cancel(o.id);
	assert_true(o.ended);
	assert_int_equal(o.e.code, ERR_cancelled);
	peer_run(50);
	assert_int_equal(peer_note(2000), ERR_cancelled);
	bus_cancel(o.id); /* an unknown id does nothing */
}

static void
a_deadline_ends_a_request(void **state)
{
	struct outcome o;

	(void)state;
	pair();
	peer_try("echo");
	peer_ask(&o, "hang", NULL, 200);
	assert_true(peer_wait(&o, 2000));
	assert_int_equal(o.e.code, ERR_deadline_exceeded);
	assert_in_range(o.ended_ms - o.asked_ms, 195, 440);
	assert_int_equal(peer_note(2000), ERR_deadline_exceeded);
}

static void
a_deadline_holds_though_the_server_hangs(void **state)
{
	struct outcome o;

	(void)state;
	pid_t server = peer_serve(&plain);
	peer_client(&plain);
	peer_try("echo");
	kill(server, SIGSTOP);
	peer_ask(&o, "echo", NULL, 200);
	assert_true(peer_wait(&o, 3000));
	assert_int_equal(o.e.code, ERR_deadline_exceeded);
	assert_in_range(o.ended_ms - o.asked_ms, 445, 900);
}

static void
a_blob_of_64_mb_arrives(void **state)
{
	struct outcome o;

	(void)state;
	pair();
	peer_put(&o, 64 << 20);
	assert_true(peer_wait(&o, 30000));
	assert_true(o.replied);
}

static void
too_much_at_once_is_refused(void **state)
{
	struct outcome o[10];
	size_t full = 0;

	(void)state;
	pid_t server = peer_serve(&plain);
	peer_client(&plain);
	peer_try("echo");
	kill(server, SIGSTOP); /* nothing is read any more */
	for (size_t i = 0; i < COUNT(o); i++) {
		peer_put(&o[i], 64 << 20);
		full += o[i].ended && o[i].e.code == ERR_queue_full && o[i].e.retry_ms > 0;
	}
	assert_in_range(full, 1, COUNT(o) - 1);
	peer_kill(server);
	for (size_t i = 0; i < COUNT(o); i++)
		assert_true(peer_wait(&o[i], 5000));
}

static void
a_killed_server_is_missed_at_once(void **state)
{
	struct outcome o;

	(void)state;
	pid_t server = peer_serve(&plain);
	peer_client(&plain);
	peer_try("echo");
	peer_ask(&o, "hang", NULL, 0);
	peer_run(50);
	int64_t killed = loop_now_ms();
	peer_kill(server);
	assert_true(peer_wait(&o, 5000));
	assert_int_equal(o.e.code, ERR_unavailable);
	assert_in_range(o.ended_ms - killed, 0, 2000);
	assert_false(bus_ready(PEER_snapshotd, NULL));
}

/* Asked after the server went and before the news of it: nothing was sent, so it can wait. */
static void
a_request_to_one_that_just_went_waits_for_the_next(void **state)
{
	struct outcome o;

	(void)state;
	pid_t server = peer_serve(&plain);
	peer_client(&plain);
	peer_try("echo");
	peer_kill(server);
	usleep(100000); /* ZeroMQ knows by now, the loop does not */
	peer_serve(&plain);
	peer_ask(&o, "echo", NULL, 0);
	assert_true(peer_wait(&o, 5000));
	assert_true(o.replied);
}

static void
a_restarted_server_is_found_again(void **state)
{
	(void)state;
	pid_t server = peer_serve(&plain);
	peer_client(&plain);
	for (int life = 0; life < 5; life++) {
		assert_true(peer_try("echo").replied);
		peer_kill(server);
		for (int i = 0; i < 100 && bus_ready(PEER_snapshotd, NULL); i++)
			peer_run(10);
		server = peer_serve(&plain);
	}
	assert_true(peer_try("echo").replied);
	assert_int_equal(bus_counts()->lost[PEER_snapshotd], 5);
}

static void
a_hanging_server_is_missed_and_comes_back(void **state)
{
	struct outcome o;
	struct heartbeat load;

	(void)state;
	pid_t server = peer_serve(&plain);
	peer_client(&plain);
	peer_try("echo");
	peer_ask(&o, "hang", NULL, 0);
	peer_run(700);
	assert_true(bus_ready(PEER_snapshotd, &load));
	assert_int_equal(load.running, 1);
	int64_t stopped = loop_now_ms();
	kill(server, SIGSTOP);
	assert_true(peer_wait(&o, 5000));
	assert_int_equal(o.e.code, ERR_unavailable);
	assert_in_range(o.ended_ms - stopped, 1000, 2700);
	kill(server, SIGCONT);
	assert_true(peer_try("echo").replied);
	/* What nobody waits for any more was called off; or its connection was ended before that.
	 */
	enum err_code why = peer_note(2000);
	assert_true(why == ERR_cancelled || why == ERR_unavailable);
}

static void
a_server_that_comes_deferred_is_waited_for(void **state)
{
	struct outcome o;

	(void)state;
	peer_client(&plain);
	peer_ask(&o, "echo", NULL, 0);
	peer_run(300);
	assert_false(o.ended);
	peer_serve(&plain);
	assert_true(peer_wait(&o, 3000));
	assert_true(o.replied);
	assert_string_equal(o.text, "local:7 here 00-trace");
}

static void
waiting_is_bounded(void **state)
{
	static struct outcome o[257];

	(void)state;
	peer_client(&(struct peer_options){ .connect_wait_ms = 300 });
	for (size_t i = 0; i < COUNT(o); i++)
		peer_ask(&o[i], "echo", NULL, 0);
	assert_true(o[256].ended);
	assert_int_equal(o[256].e.code, ERR_queue_full);
	assert_true(o[256].e.retry_ms > 0);
	for (size_t i = 0; i < 256; i++) {
		assert_true(peer_wait(&o[i], 2000));
		assert_int_equal(o[i].e.code, ERR_unavailable);
		assert_in_range(o[i].ended_ms - o[i].asked_ms, 295, 700);
	}
	bus_cancel(o[0].id);
}

/* Servers a and b, and a client for whom both are there. */
static void
serve_two(void)
{
	static const struct peer_options two = { .connect = "a,b" };
	static struct outcome who;

	peer_serve(&(struct peer_options){ .instance = "a" });
	peer_serve(&(struct peer_options){ .instance = "b" });
	peer_client(&two);
	for (size_t i = 0; i < 2; i++) {
		peer_ask(&who, "instance", i == 0 ? "a" : "b", 0);
		assert_true(peer_wait(&who, 3000));
		assert_string_equal(who.text, i == 0 ? "a" : "b");
	}
}

static void
the_least_loaded_instance_is_asked(void **state)
{
	static struct outcome o[20], who;

	(void)state;
	serve_two();
	for (size_t i = 0; i < COUNT(o); i++)
		peer_ask(&o[i], "hang", i < 8 ? "a" : NULL, 0);
	peer_run(1100); /* heartbeats say 10 and 10 now */
	struct heartbeat load;
	assert_true(bus_ready(PEER_snapshotd, &load));
	assert_int_equal(load.running, COUNT(o) / 2);
	peer_ask(&who, "instance", "c", 0);
	assert_true(who.ended);
	assert_int_equal(who.e.code, ERR_not_found);
}

/* However busy it is. */
static void
a_principal_has_a_home(void **state)
{
	static struct outcome o[8], who;
	char home[sizeof who.text];

	(void)state;
	serve_two();
	peer_ask_home(&who, "instance", "local:7");
	assert_true(peer_wait(&who, 3000));
	snprintf(home, sizeof home, "%s", who.text);
	for (size_t i = 0; i < COUNT(o); i++)
		peer_ask(&o[i], "hang", home, 0);
	peer_ask_home(&who, "instance", "local:7");
	assert_true(peer_wait(&who, 3000));
	assert_string_equal(who.text, home);

	bool other = false;

	for (unsigned i = 0; i < 64 && !other; i++) {
		char principal[32];

		snprintf(principal, sizeof principal, "local:%u", 1000 + i);
		peer_ask_home(&who, "instance", principal);
		assert_true(peer_wait(&who, 3000));
		other = strcmp(who.text, home) != 0;
	}
	assert_true(other); /* not all live in one place */
}

static void
open_requests_are_bounded(void **state)
{
	static struct outcome o[4]; /* three of them end with the bus, after this */

	(void)state;
	peer_serve(&(struct peer_options){ .max_calls = 3 });
	peer_client(&plain);
	for (size_t i = 0; i < COUNT(o); i++)
		peer_ask(&o[i], "hang", NULL, 0);
	assert_true(peer_wait(&o[3], 3000));
	assert_int_equal(o[3].e.code, ERR_queue_full);
	assert_true(o[3].e.retry_ms > 0);
	assert_false(o[0].ended || o[1].ended || o[2].ended);
}

static void
a_client_that_dies_is_missed(void **state)
{
	struct outcome o;

	(void)state;
	peer_serve(&plain);
	pid_t client = fork();
	if (client == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		peer_client(&plain);
		peer_ask(&o, "hang", NULL, 0);
		peer_run(500);
		_exit(o.ended); /* without a farewell */
	}
	int status;
	waitpid(client, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(peer_note(6000), ERR_unavailable);
}

/* It was silent for so long that the server gave it up: what was open ends, the rest goes on. */
static void
a_client_that_was_busy_begins_anew(void **state)
{
	struct outcome o;
	bool replied = false;

	(void)state;
	pair();
	peer_try("echo");
	peer_ask(&o, "hang", NULL, 0);
	peer_run(50);
	sleep(6);
	/* A server that had no processor for a while gives it up only now, with what was just sent.
	 */
	for (int i = 0; i < 3 && !replied; i++)
		replied = peer_try("echo").replied;
	assert_true(replied);
	assert_true(o.ended);
	assert_int_equal(o.e.code, ERR_unavailable);
	assert_int_equal(peer_note(6000), ERR_unavailable);
}

static void
a_draining_server_says_so(void **state)
{
	(void)state;
	pair();
	assert_string_equal(peer_try("drain").text, "draining");
	struct outcome o = peer_try("echo");
	assert_int_equal(o.e.code, ERR_unavailable);
	assert_non_null(strstr(o.e.text, "is shutting down"));
}

static void
the_end_answers_what_is_open(void **state)
{
	struct outcome o;

	(void)state;
	pair();
	peer_ask(&o, "hang", NULL, 0);
	peer_run(100);
	bus_stop();
	assert_true(o.ended);
	assert_int_equal(o.e.code, ERR_unavailable);
	peer_ask(&o, "echo", NULL, 0);
	assert_int_equal(o.e.code, ERR_unavailable);
}

static void
over_tcp_both_sides_need_their_keys(void **state)
{
	char keys[128], listen[64];
	struct err e;

	(void)state;
	snprintf(keys, sizeof keys, "%s/keys", peer_directory());
	snprintf(listen, sizeof listen, "tcp://127.0.0.1:%d", peer_free_port());
	assert_int_equal(bus_keys_make(keys, &e), 0);
	peer_serve(&(struct peer_options){ .listen = listen, .keys = keys });
	peer_client(&(struct peer_options){ .connect = listen, .keys = keys });
	struct outcome o = peer_try("echo");
	assert_true(o.replied);
	peer_put(&o, 1 << 20);
	assert_true(peer_wait(&o, 5000) && o.replied);
}

static void
over_tcp_an_address_may_be_of_ipv6(void **state)
{
	char keys[128], listen[64];
	struct err e;

	(void)state;
	if (access("/proc/net/if_inet6", R_OK) < 0) {
		print_message("needs IPv6\n");
		skip();
	}
	snprintf(keys, sizeof keys, "%s/keys", peer_directory());
	snprintf(listen, sizeof listen, "tcp://[::1]:%d", peer_free_port());
	assert_int_equal(bus_keys_make(keys, &e), 0);
	peer_serve(&(struct peer_options){ .listen = listen, .keys = keys });
	peer_client(&(struct peer_options){ .connect = listen, .keys = keys });
	assert_true(peer_try("echo").replied);
}

static void
copy_key(const char *from, const char *to, const char *name)
{
	auto_fd int source = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd int target = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct blob key = { 0 };
	struct err e;

	assert_int_equal(fdio_load(source, name, 100, &key, &e), 0);
	assert_int_equal(fdio_store(target, name, key.data, key.size, 0600, &e), 0);
	blob_clear(&key);
}

static void
rename_key(const char *directory, const char *from, const char *to)
{
	char a[256], b[256];

	snprintf(a, sizeof a, "%s/%s", directory, from);
	snprintf(b, sizeof b, "%s/%s", directory, to);
	assert_int_equal(rename(a, b), 0);
}

static void
over_tcp_another_key_gets_nothing(void **state)
{
	char keys[128], others[128], listen[64];
	struct outcome o;
	struct err e;

	(void)state;
	snprintf(keys, sizeof keys, "%s/keys", peer_directory());
	snprintf(others, sizeof others, "%s/others", peer_directory());
	snprintf(listen, sizeof listen, "tcp://127.0.0.1:%d", peer_free_port());
	assert_int_equal(bus_keys_make(keys, &e), 0);
	assert_int_equal(bus_keys_make(others, &e), 0);
	copy_key(keys, others, "snapshotd.pub");
	peer_serve(&(struct peer_options){ .listen = listen, .keys = keys });
	peer_client(
	    &(struct peer_options){ .connect = listen, .keys = others, .connect_wait_ms = 1000 });
	peer_ask(&o, "echo", NULL, 0);
	assert_true(peer_wait(&o, 5000));
	assert_int_equal(o.e.code, ERR_unavailable);
}

/* The key of a daemon that has no edge to this one opens nothing. */
static void
over_tcp_the_key_of_no_edge_gets_nothing(void **state)
{
	char keys[128], others[128], listen[64];
	struct outcome o;
	struct err e;

	(void)state;
	snprintf(keys, sizeof keys, "%s/keys", peer_directory());
	snprintf(others, sizeof others, "%s/others", peer_directory());
	snprintf(listen, sizeof listen, "tcp://127.0.0.1:%d", peer_free_port());
	assert_int_equal(bus_keys_make(keys, &e), 0);
	assert_int_equal(bus_keys_make(others, &e), 0);
	copy_key(keys, others, "snapshotd.pub");
	copy_key(keys, others, "validator.key");
	rename_key(others, "validator.key", "executor.key");
	peer_serve(&(struct peer_options){ .listen = listen, .keys = keys });
	peer_client(
	    &(struct peer_options){ .connect = listen, .keys = others, .connect_wait_ms = 1000 });
	peer_ask(&o, "echo", NULL, 0);
	assert_true(peer_wait(&o, 5000));
	assert_int_equal(o.e.code, ERR_unavailable);
}

#define bus_test(f) cmocka_unit_test_setup_teardown(f, peer_setup, peer_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		bus_test(a_request_is_answered),
		bus_test(a_failure_keeps_code_and_text),
		bus_test(a_shortage_is_no_fault),
		bus_test(a_fault_is_logged_and_a_callers_mistake_is_not),
		bus_test(parts_come_before_the_reply),
		bus_test(a_cancelled_request_ends_on_both_sides),
		bus_test(a_deadline_ends_a_request),
		bus_test(a_deadline_holds_though_the_server_hangs),
		bus_test(a_blob_of_64_mb_arrives),
		bus_test(too_much_at_once_is_refused),
		bus_test(a_killed_server_is_missed_at_once),
		bus_test(a_request_to_one_that_just_went_waits_for_the_next),
		bus_test(a_restarted_server_is_found_again),
		bus_test(a_hanging_server_is_missed_and_comes_back),
		bus_test(a_server_that_comes_deferred_is_waited_for),
		bus_test(waiting_is_bounded),
		bus_test(the_least_loaded_instance_is_asked),
		bus_test(a_principal_has_a_home),
		bus_test(open_requests_are_bounded),
		bus_test(a_client_that_dies_is_missed),
		bus_test(a_client_that_was_busy_begins_anew),
		bus_test(a_draining_server_says_so),
		bus_test(the_end_answers_what_is_open),
		bus_test(over_tcp_both_sides_need_their_keys),
		bus_test(over_tcp_an_address_may_be_of_ipv6),
		bus_test(over_tcp_another_key_gets_nothing),
		bus_test(over_tcp_the_key_of_no_edge_gets_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
