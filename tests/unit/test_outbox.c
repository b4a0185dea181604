/* SPDX-License-Identifier: Apache-2.0 */
/* test_outbox.c - a reader that stops: writes never block, nothing is lost, and memory does not
 * grow. */
#include "gateway/rpc/outbox.h"

#include "common/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

enum {
	LIMIT = 4 << 20,
};

static json_t *
text_of(size_t size)
{
	auto_free char *text = malloc(size);

	memset(text, 'x', size);
	return json_stringn(text, size);
}

/* Everything that comes, until size bytes are there. */
static void
drain(struct outbox *box, int from, int to, bool socket, char *data, size_t size)
{
	for (size_t got = 0; got < size;) {
		assert_int_equal(outbox_write(box, to, socket), 0);
		ssize_t n = read(from, data + got, size - got);

		assert_true(n > 0);
		got += (size_t)n;
	}
}

static void
waits_for_a_slow_reader(void **state)
{
	bool socket = *(const bool *)*state;
	struct outbox box = { 0 };
	struct err e;
	int ends[2];

	/* The socket stays in blocking mode, as one that was inherited would. */
	if (socket)
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	else
		assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	fcntl(ends[0], F_SETFL, 0);

	json_t *big = text_of(3 << 20), *small = json_pack("{s:i}", "n", 1);
	size_t all = (3 << 20) + 3 + 8;
	auto_free char *data = malloc(all);

	assert_int_equal(outbox_add(&box, big, LIMIT, &e), 0);
	assert_int_equal(outbox_write(&box, ends[1], socket), 0);
	assert_true(box.bytes > 0 && box.bytes < all);
	assert_int_equal(outbox_add(&box, small, LIMIT, &e), 0);
	drain(&box, ends[0], ends[1], socket, data, all);
	assert_int_equal(box.bytes, 0);
	assert_memory_equal(data, "\"xx", 3);
	assert_memory_equal(data + all - 11, "x\"\n{\"n\":1}\n", 11);
	json_decref(big);
	json_decref(small);
	outbox_clear(&box);
	close(ends[0]);
	close(ends[1]);
}

/* What does not fit leaves no trace, at each place within a block where it may begin. */
static void
takes_whole_messages_or_none(void **state)
{
	static const size_t before[] = { 0, 1, 65000, 65468, 65469, 65470, 65471, 1113980, 1113981,
		1113982, 2000000 };
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(before); i++) {
		struct outbox box = { 0 };
		json_t *first = text_of(before[i]), *big = text_of(LIMIT), *last = json_integer(7);
		size_t held = before[i] + 3;
		auto_free char *data = malloc(held + 2);
		int ends[2];

		assert_int_equal(outbox_add(&box, first, LIMIT, &e), 0);
		assert_int_equal(outbox_add(&box, big, LIMIT, &e), -1);
		assert_int_equal(e.code, ERR_limit_exceeded);
		assert_int_equal(box.bytes, held);
		assert_int_equal(outbox_add(&box, last, LIMIT, &e), 0);
		assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
		fcntl(ends[0], F_SETFL, 0);
		drain(&box, ends[0], ends[1], false, data, held + 2);
		assert_memory_equal(data + held - 2, "\"\n7\n", 4);
		json_decref(first);
		json_decref(big);
		json_decref(last);
		outbox_clear(&box);
		close(ends[0]);
		close(ends[1]);
	}
}

static void
refuses_the_first_message(void **state)
{
	struct outbox box = { 0 };
	json_t *big = text_of(LIMIT);
	struct err e;

	(void)state;
	assert_int_equal(outbox_add(&box, big, LIMIT, &e), -1);
	assert_int_equal(box.bytes, 0);
	json_decref(big);
	outbox_clear(&box);
}

static void
says_when_the_reader_is_gone(void **state)
{
	struct outbox box = { 0 };
	json_t *message = json_integer(7);
	struct err e;
	int ends[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	close(ends[0]);
	assert_int_equal(outbox_add(&box, message, LIMIT, &e), 0);
	assert_int_equal(outbox_write(&box, ends[1], false), -1);
	assert_int_equal(errno, EPIPE);
	json_decref(message);
	outbox_clear(&box);
	close(ends[1]);
}

int
main(void)
{
	static bool on_pipe = false, on_socket = true;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(waits_for_a_slow_reader, &on_pipe),
		cmocka_unit_test_prestate(waits_for_a_slow_reader, &on_socket),
		cmocka_unit_test(takes_whole_messages_or_none),
		cmocka_unit_test(refuses_the_first_message),
		cmocka_unit_test(says_when_the_reader_is_gone),
	};

	return cmocka_run_group_tests_name("outbox", tests, NULL, NULL);
}
