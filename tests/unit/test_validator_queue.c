/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_validator_queue.c - which check is next, which process runs it, and which client is refused
 * for lack of room.
 *
 * The check itself is in this file and runs in those processes; the first characters of its code
 * determine the outcome.
 */
#include "validator/queue.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <ctype.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	CALLS = 32,
	PLACES = 24,
	EACH = 4,
	SMALL = 1000,
	LARGE = 20000,
	PATIENCE_MS = 10000,
};

static atomic_bool *gate; /* of all processes: opened, checks in upper case end */
static struct call calls[CALLS];
static char names[CALLS + 1], order[CALLS + 1]; /* of calls, and of those that were answered */
static struct err failure;                      /* of the last that was not checked */
static size_t answered, wanted, lost;

/* ---- in place of the bus and the parser ---- */

/* As a parser does that an attacker has taken over. */
static void
say(uint64_t size)
{
	struct stat found;

	for (int fd = 3; fd < 1024; fd++)
		if (fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode))
			must(write(fd, &size, sizeof size) == sizeof size);
	pause();
}

static int
check(void *message, void *reply, struct err *e)
{
	const struct validate_code *request = message;
	struct validation_report *report = reply;
	char name = *(const char *)request->code.data;

	if (name == '!')
		_exit(1);
	if (name == '0')
		say(0);
	if (name == '1')
		say(1ULL << 40);
	if (name == '2') /* as it came: a request is no report */
		say(1 << 20);
	if (name == '?')
		return err_set(e, ERR_limit_exceeded, "too deep");
	while (isupper((unsigned char)name) && !atomic_load(gate))
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	report->validation = calloc(1, sizeof *report->validation);
	report->analysis = calloc(1, sizeof *report->analysis);
	must(report->validation != NULL && report->analysis != NULL);
	report->validation->message = strdup("fine");
	report->analysis->estimated_complexity = strdup("low");
	return 0;
}

static void
end_call(const struct call *call)
{
	order[answered] = names[call - calls];
	if (++answered == wanted)
		loop_stop();
}

void
call_reply(struct call *call, void *reply)
{
	const struct validation_report *report = reply;

	assert_string_equal(report->validation->message, "fine");
	end_call(call);
}

void
call_fail(struct call *call, const struct err *e)
{
	failure = *e;
	end_call(call);
}

static int
settle(struct err *e)
{
	(void)e;
	return 0;
}

static void
short_of_one(void)
{
	lost++;
}

/* ---- the tests ---- */

static int
begin(uint64_t workers)
{
	static const struct checker checkers[] = { { MSG_validate_code, check }, { 0 } };
	const struct queue_config config = { { checkers, settle }, PLACES, EACH, workers,
		short_of_one };
	struct err e;

	memset(order, 0, sizeof order);
	memset(names, 0, sizeof names);
	answered = lost = 0;
	failure = (struct err){ 0 };
	atomic_store(gate, false);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(loop_open(&e), 0);
	assert_int_equal(queue_open(&config, &e), 0);
	return queue_start(&e);
}

static int
begin_one(void **state)
{
	(void)state;
	return begin(1);
}

static int
begin_two(void **state)
{
	(void)state;
	return begin(2);
}

static int
end(void **state)
{
	(void)state;
	queue_stop();
	loop_close();
	return 0;
}

/* name: one letter, which the order is told by. */
static int
submit(size_t at, const char *principal, char name, size_t size, struct err *e)
{
	auto_free char *code = malloc(size);

	memset(code, name, size);
	names[at] = name;

	struct validate_code request = { .code = blob_copy(code, size) };

	calls[at] = (struct call){ .message = MSG_validate_code, .trace = "" };
	assert_true(owner_set(&calls[at].owner, principal, NULL));
	int r = queue_submit(&calls[at], &request, size, e);

	message_clear(MSG_validate_code, &request);
	return r;
}

static void
give_up(void *self)
{
	(void)self;
	loop_stop();
}

/* Until so many were answered in all. */
static void
await(size_t n)
{
	uint64_t timer = loop_after(PATIENCE_MS, give_up, NULL);
	struct err e;

	wanted = n;
	if (answered < n)
		assert_int_equal(loop_run(&e), 0);
	loop_unset(timer);
	assert_int_equal(answered, n);
}

static void
one_takes_no_more_than_a_share(void **state)
{
	static const char *const others[] = { "", "b", "c", "d", "e", "f" };
	struct err e;
	size_t n;

	(void)state;
	for (n = 0; n < EACH; n++)
		assert_int_equal(submit(n, "greedy", 'G', SMALL, &e), 0);
	assert_int_equal(submit(n, "greedy", 'G', SMALL, &e), -1);
	assert_int_equal(e.code, ERR_queue_full);
	assert_non_null(strstr(e.text, "of your checks"));
	assert_true(e.retry_ms > 0);
	/* Others have places, up to all that there are. */
	for (; n < PLACES; n++)
		assert_int_equal(submit(n, others[n / EACH], 'o', SMALL, &e), 0);
	assert_int_equal(submit(n, "third", 't', SMALL, &e), -1);
	assert_int_equal(e.code, ERR_queue_full);
	atomic_store(gate, true);
	await(PLACES);
	/* And has it again. */
	assert_int_equal(submit(n, "greedy", 'g', SMALL, &e), 0);
	await(PLACES + 1);
}

static void
each_has_its_turn(void **state)
{
	struct err e;

	(void)state;
	/* The first is under way when the others come. */
	assert_int_equal(submit(0, "greedy", 'a', 1, &e), 0);
	assert_int_equal(submit(1, "greedy", 'b', 1, &e), 0);
	assert_int_equal(submit(2, "greedy", 'c', 1, &e), 0);
	assert_int_equal(submit(3, "other", 'y', 3000, &e), 0);
	assert_int_equal(submit(4, "third", 'x', 2000, &e), 0);
	assert_int_equal(submit(5, "other", 'z', 1, &e), 0);
	await(6);
	assert_string_equal(order, "axybzc");
}

static void
small_code_never_waits_for_large(void **state)
{
	struct err e;
	size_t n;

	(void)state;
	/* As many as there may be, none of which ends before the gate opens. */
	for (n = 0; n < EACH; n++)
		assert_int_equal(submit(n, "greedy", 'G', LARGE, &e), 0);
	for (; n < 2 * EACH; n++)
		assert_int_equal(submit(n, "second", 'S', LARGE, &e), 0);
	assert_int_equal(submit(n++, "other", 'o', SMALL, &e), 0);
	await(1);
	assert_int_equal(submit(n++, "other", 'p', SMALL, &e), 0);
	await(2);
	assert_string_equal(order, "op");
	atomic_store(gate, true);
	await(n);
	/* And large ones take turns. */
	assert_string_equal(order, "opGSGSGSGS");
}

static void
nobody_is_passed_for_ever(void **state)
{
	static const char *const principals[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
		"k", "l" };
	struct err e;

	(void)state;
	assert_int_equal(submit(0, "first", 'f', SMALL, &e), 0);
	assert_int_equal(submit(1, "large", 'l', LARGE, &e), 0);
	for (size_t i = 0; i < COUNT(principals); i++)
		assert_int_equal(submit(2 + i, principals[i], 's', SMALL, &e), 0);
	await(2 + COUNT(principals));
	assert_string_equal(order, "fsssssssslssss");
}

static void
what_nobody_waits_for_is_left_out(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(submit(0, "one", 'A', SMALL, &e), 0);
	assert_int_equal(submit(1, "one", 'b', SMALL, &e), 0);
	calls[1].on_cancel(&calls[1], ERR_cancelled);
	assert_int_equal(answered, 1);
	assert_int_equal(failure.code, ERR_cancelled);
	/* One under way is not to be stopped. */
	calls[0].on_cancel(&calls[0], ERR_cancelled);
	assert_int_equal(answered, 1);
	atomic_store(gate, true);
	await(2);
}

static void
tells_what_a_check_says(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(submit(0, "one", '?', SMALL, &e), 0);
	await(1);
	assert_int_equal(failure.code, ERR_limit_exceeded);
	assert_string_equal(failure.text, "too deep");
	assert_int_equal(lost, 0);
}

/* It dies, or says what it could not know. */
static void
outlives_a_process(void **state)
{
	static const char ways[] = "!01";
	struct err e;

	for (const char *way = ways; *way != 0; way++) {
		size_t n = 0;

		assert_int_equal(submit(n++, "one", *way, SMALL, &e), 0);
		await(n);
		assert_int_equal(failure.code, ERR_unavailable);
		assert_int_equal(lost, 1);
		/* The other goes on, with large code, too. */
		assert_int_equal(submit(n++, "one", 'l', LARGE, &e), 0);
		assert_int_equal(submit(n++, "one", 's', SMALL, &e), 0);
		await(n);
		/* Without that there is nobody. */
		assert_int_equal(submit(n++, "one", *way, SMALL, &e), 0);
		assert_int_equal(submit(n++, "one", 'w', SMALL, &e), 0);
		await(n);
		assert_int_equal(failure.code, ERR_unavailable);
		assert_int_equal(lost, 2);
		end(state);
		assert_int_equal(begin(2), 0);
	}
}

static void
believes_no_message(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(submit(0, "one", '2', SMALL, &e), 0);
	await(1);
	assert_int_equal(failure.code, ERR_invalid_argument);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_takes_no_more_than_a_share, begin_one, end),
		cmocka_unit_test_setup_teardown(each_has_its_turn, begin_one, end),
		cmocka_unit_test_setup_teardown(small_code_never_waits_for_large, begin_two, end),
		cmocka_unit_test_setup_teardown(nobody_is_passed_for_ever, begin_one, end),
		cmocka_unit_test_setup_teardown(what_nobody_waits_for_is_left_out, begin_one, end),
		cmocka_unit_test_setup_teardown(tells_what_a_check_says, begin_two, end),
		cmocka_unit_test_setup_teardown(outlives_a_process, begin_two, end),
		cmocka_unit_test_setup_teardown(believes_no_message, begin_two, end),
	};

	gate = mmap(NULL, sizeof *gate, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(gate != MAP_FAILED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
