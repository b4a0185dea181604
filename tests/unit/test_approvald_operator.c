/* SPDX-License-Identifier: Apache-2.0 */
/* test_approvald_operator.c - the operator's socket: orders of the right user, and nothing of
 * anybody or anything else. */
#include "asked.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/approvald/operator.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum {
	ORDER_BYTES = 4096, /* of operator.c */
	VISITORS = 16,
	GUARD_MS = 5000,
};

static uid_t peer; /* as the kernel names it */
static int64_t shortened;
static bool guarded;

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
const char *__wrap_daemon_run(void);
uint64_t __wrap_loop_after(int64_t ms, void (*fire)(void *self), void *self);
uint64_t __real_loop_after(int64_t ms, void (*fire)(void *self), void *self);

int
__wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
	int status = __real_getsockopt(fd, level, name, value, size);

	if (status == 0 && level == SOL_SOCKET && name == SO_PEERCRED)
		((struct ucred *)value)->uid = peer;
	return status;
}

const char *
__wrap_daemon_run(void)
{
	return asked.directory;
}

uint64_t
__wrap_loop_after(int64_t ms, void (*fire)(void *self), void *self)
{
	return __real_loop_after(shortened > 0 && ms > shortened ? shortened : ms, fire, self);
}

/* ---- a terminal ---- */

static void
on_reply(void *self, uint32_t events)
{
	(void)self, (void)events;
	loop_stop();
}

static void
on_guard(void *self)
{
	(void)self;
	guarded = true;
	loop_stop();
}

static int
visit(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s/approve.sock", asked.directory);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

/* The size of the reply; 0: the connection was closed without one. */
static size_t
await(int fd, char *reply, size_t room)
{
	uint64_t guard = __real_loop_after(GUARD_MS, on_guard, NULL);
	struct err e;
	ssize_t n;

	guarded = false;
	assert_int_equal(loop_watch(fd, EPOLLIN | EPOLLRDHUP, on_reply, NULL, &e), 0);
	assert_int_equal(loop_run(&e), 0);
	loop_forget(fd);
	loop_unset(guard);
	assert_false(guarded);
	n = recv(fd, reply, room, MSG_DONTWAIT);
	return n > 0 ? (size_t)n : 0; /* it may be reset, with bytes that were not read */
}

/* The first byte of the reply: 0 it was done, 1 it was refused; -1: none. */
static int
send_bytes(const void *data, size_t size)
{
	char reply[65536];
	auto_fd int fd = visit();

	assert_int_equal(send(fd, data, size, MSG_NOSIGNAL), size);
	return await(fd, reply, sizeof reply) == 0 ? -1 : reply[0];
}

static struct blob
bytes_of(struct approval_order o)
{
	struct packed packed = { 0 };
	struct blob bytes = { 0 };
	struct err e;

	assert_int_equal(wire_encode(MSG_approval_order, &o, &packed, &e), 0);
	assert_int_equal(wire_flatten(&packed, &bytes, &e), 0);
	packed_clear(&packed);
	return bytes;
}

static int
order(struct approval_order o)
{
	struct blob bytes = bytes_of(o);
	int status = send_bytes(bytes.data, bytes.size);

	blob_clear(&bytes);
	return status;
}

static bool
lists(void)
{
	return order((struct approval_order){
		   .action = approval_action_list, .kind = approval_kind_egress }) == 0;
}

static struct approval_order
grant_of(const char *subject)
{
	return (struct approval_order){ .action = approval_action_grant,
		.kind = approval_kind_egress,
		.subject = (char *)(uintptr_t)subject };
}

static int
set_up(void **unused)
{
	struct err e;

	peer = geteuid();
	shortened = 0;
	if (asked_set_up(unused) < 0 || loop_open(&e) < 0 || operator_open(&e) < 0)
		return -1;
	return operator_start(&e);
}

static int
tear_down(void **unused)
{
	operator_stop();
	loop_close();
	return asked_tear_down(unused);
}

/* ---- cases ---- */

static void
orders_of_the_user_are_obeyed(void **unused)
{
	struct wish w = asked_wish("a.test");
	struct approval *a = asked_make(&w);
	struct approval_order o = { .action = approval_action_answer,
		.kind = approval_kind_egress,
		.request_id = a->request_id,
		.verdict = approval_verdict_approve,
		.duration = approval_duration_once };
	char by[32];

	(void)unused;
	assert_true(lists());
	assert_int_equal(order(o), 0);
	assert_int_equal(a->state, approval_state_approved);
	snprintf(by, sizeof by, "uid %u", (unsigned)peer);
	assert_string_equal(a->answered_by, by);
	assert_int_equal(order(o), 1);
	peer = 0;
	o.verdict = approval_verdict_revoke;
	assert_int_equal(order(o), 0);
	assert_string_equal(a->answered_by, "uid 0");
	asked_restart();
	assert_int_equal(store_at(0)->state, approval_state_revoked);
}

static void
another_user_is_not_obeyed(void **unused)
{
	struct blob bytes = bytes_of(grant_of("a.test"));

	(void)unused;
	peer = geteuid() + 1;
	assert_int_equal(send_bytes(bytes.data, bytes.size), -1);
	assert_null(store_at(0));
	peer = geteuid();
	assert_true(lists());
	blob_clear(&bytes);
}

static void
only_the_user_can_open_the_socket(void **unused)
{
	struct stat st;

	(void)unused;
	assert_int_equal(fstatat(asked.state, "approve.sock", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void
grants_without_a_request(void **unused)
{
	struct approval_order o = grant_of("Example.COM.");
	char local[32];

	(void)unused;
	assert_int_equal(order(o), 0);
	snprintf(local, sizeof local, "local:%u", (unsigned)peer);
	assert_string_equal(store_at(0)->principal, local);
	assert_string_equal(store_at(0)->subject, "example.com");
	assert_true(store_at(0)->granted);
	assert_int_equal(asked.event, event_egress_approved);
	assert_int_equal(order(grant_of("192.0.2.1")), 1);
	assert_int_equal(order(grant_of(NULL)), 1);
	o.until = (char *)(uintptr_t) "2027-01-14";
	assert_int_equal(order(o), 1);
	asked.spool_full = true;
	assert_int_equal(order(grant_of("b.test")), 1);
	assert_null(store_at(1));
}

/* Half a frame, or one with another byte: refused or another order, and the next one is obeyed. */
static void
what_is_no_order_is_refused(void **unused)
{
	struct blob bytes = bytes_of((struct approval_order){ .action = approval_action_answer,
	    .kind = approval_kind_egress,
	    .request_id = (char *)(uintptr_t) "0123456789abcdef",
	    .verdict = approval_verdict_approve });
	char *data = bytes.data;

	(void)unused;
	assert_int_equal(send_bytes(data, bytes.size), 1); /* no such request */
	for (size_t size = 1; size < bytes.size; size++)
		assert_int_equal(send_bytes(data, size), 1);
	for (size_t at = 0; at < bytes.size; at++) {
		char was = data[at];

		for (unsigned bit = 0; bit < 8; bit++) {
			data[at] = (char)(was ^ (char)(1u << bit));
			send_bytes(data, bytes.size);
		}
		data[at] = was;
	}
	assert_null(store_at(0));
	assert_true(lists());
	blob_clear(&bytes);
}

static void
garbage_is_refused(void **unused)
{
	static char data[ORDER_BYTES + 1];
	static const char fills[] = { 0, 1, ' ', (char)0x80, (char)0xdf, (char)0xff };

	(void)unused;
	for (size_t i = 0; i < sizeof fills; i++) {
		memset(data, fills[i], sizeof data);
		for (size_t size = 1; size <= ORDER_BYTES; size *= 8)
			assert_int_equal(send_bytes(data, size), 1);
		assert_int_equal(send_bytes(data, ORDER_BYTES), 1);
		assert_int_equal(send_bytes(data, ORDER_BYTES + 1), -1);
	}
	assert_true(lists());
}

/* The beginning of a packet that is too long is no order, even if it could be read as one. */
static void
a_packet_that_is_too_long_is_no_order(void **unused)
{
	struct blob bytes = bytes_of(grant_of("a.test"));
	char *data = calloc(1, 3 * ORDER_BYTES);

	(void)unused;
	assert_non_null(data);
	memcpy(data, bytes.data, bytes.size);
	assert_int_equal(send_bytes(data, 3 * ORDER_BYTES), -1);
	assert_int_equal(send_bytes(data, bytes.size + 1), 1);
	assert_null(store_at(0));
	assert_int_equal(send_bytes(data, bytes.size), 0);
	assert_non_null(store_at(0));
	blob_clear(&bytes);
	free(data);
}

static void
who_sends_nothing_is_dropped(void **unused)
{
	char reply[64];

	(void)unused;
	shortened = 50;
	auto_fd int silent = visit();

	assert_int_equal(await(silent, reply, sizeof reply), 0);
	auto_fd int gone = visit();

	close(take_fd(&gone));
	assert_true(lists());
}

/* One more than there is room for; all others stay. */
static void
connections_are_bounded(void **unused)
{
	int fds[VISITORS];
	char reply[65536];
	struct blob bytes = bytes_of((struct approval_order){
	    .action = approval_action_list, .kind = approval_kind_egress });

	(void)unused;
	for (size_t i = 0; i < VISITORS; i++)
		fds[i] = visit();
	auto_fd int over = visit();

	assert_int_equal(await(over, reply, sizeof reply), 0);
	for (size_t i = 0; i < VISITORS; i++) {
		assert_int_equal(send(fds[i], bytes.data, bytes.size, MSG_NOSIGNAL), bytes.size);
		assert_true(await(fds[i], reply, sizeof reply) > 0);
		assert_int_equal(reply[0], 0);
		close(fds[i]);
	}
	assert_true(lists());
	blob_clear(&bytes);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(orders_of_the_user_are_obeyed),
		TEST(another_user_is_not_obeyed),
		TEST(only_the_user_can_open_the_socket),
		TEST(grants_without_a_request),
		TEST(what_is_no_order_is_refused),
		TEST(garbage_is_refused),
		TEST(a_packet_that_is_too_long_is_no_order),
		TEST(who_sends_nothing_is_dropped),
		TEST(connections_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
