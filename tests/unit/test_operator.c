/* SPDX-License-Identifier: Apache-2.0 */
/* test_operator.c - the operator's socket: messages of the right user, and nothing of anybody or
 * anything else. */
#include "scratch.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/daemon/operator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	VISITORS = 16, /* of operator.c */
	GUARD_MS = 5000,
};

static char directory[] = "/tmp/cloister-operator-XXXXXX";
static uid_t peer; /* as the kernel names it */
static int64_t shortened;
static bool guarded;

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
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

	snprintf(address.sun_path, sizeof address.sun_path, "%s/vault.sock", directory);
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

/* ---- a daemon ---- */

static struct {
	size_t added, revealed;
	size_t size; /* of the value */
	bool by_operator;
	char principal[OWNER_PRINCIPAL];
	struct call *kept;
	size_t bytes; /* of the list */
} seen;

static int
on_add(struct call *call, void *request, struct err *e)
{
	struct vault_add *ask = request;
	struct vault_entry reply = { .name = ask->name,
		.namespace = (char *)(uintptr_t) "default",
		.source = (char *)(uintptr_t) "file" };

	if (ask->exists)
		return err_set(e, ERR_secret_not_found, "no such secret");
	seen.added++;
	seen.size = ask->value.size;
	seen.by_operator = call->by_operator;
	snprintf(seen.principal, sizeof seen.principal, "%s", call->owner.principal);
	call_reply(call, &reply);
	return 0;
}

/* It is answered later. */
static int
on_delete(struct call *call, void *request, struct err *e)
{
	(void)request, (void)e;
	seen.kept = call;
	return 0;
}

static int
on_reveal(struct call *call, void *request, struct err *e)
{
	(void)call, (void)request;
	seen.revealed++;
	return err_set(e, ERR_internal, "not for operators");
}

static const struct route routes[] = {
	{ MSG_vault_add, FROM(gateway), on_add },
	{ MSG_vault_delete, 0, on_delete },
	{ MSG_vault_reveal, FROM(executor), on_reveal },
	{ 0 },
};

/* ---- its messages ---- */

static struct blob
bytes_of(enum msg_id id, void *message)
{
	const char *name = messages[id].name;
	struct packed packed = { 0 };
	struct blob flat = { 0 }, bytes;
	struct err e;

	assert_int_equal(wire_encode(id, message, &packed, &e), 0);
	assert_int_equal(wire_flatten(&packed, &flat, &e), 0);
	packed_clear(&packed);
	bytes = (struct blob){ malloc(strlen(name) + 1 + flat.size), strlen(name) + 1 + flat.size };
	assert_non_null(bytes.data);
	memcpy(mempcpy(bytes.data, name, strlen(name) + 1), flat.data, flat.size);
	blob_clear(&flat);
	return bytes;
}

static struct blob
bytes_of_add(size_t size, bool exists)
{
	struct vault_add ask = { .name = (char *)(uintptr_t) "KEY",
		.value = { calloc(1, size), size },
		.exists = exists };
	struct blob bytes = bytes_of(MSG_vault_add, &ask);

	blob_clear(&ask.value);
	return bytes;
}

static int
send_and_free(struct blob bytes)
{
	int status = send_bytes(bytes.data, bytes.size);

	blob_clear(&bytes);
	return status;
}

static bool
works(void)
{
	return send_and_free(bytes_of_add(8, false)) == 0;
}

static int
set_up(void **unused)
{
	const struct bus_config config = {
		.self = PEER_vault, .run = directory, .run_fd = -1, .routes = routes
	};
	struct err e;

	(void)unused;
	peer = geteuid();
	shortened = 0;
	memset(&seen, 0, sizeof seen);
	if (scratch_make(directory) < 0 || loop_open(&e) < 0 || bus_prepare(&config, &e) < 0 ||
	    operator_open(PEER_vault, routes, directory, &e) < 0)
		return -1;
	return operator_start(&e);
}

static int
tear_down(void **unused)
{
	(void)unused;
	bus_stop();
	operator_stop();
	loop_close();
	return scratch_remove(directory);
}

/* ---- cases ---- */

static void
messages_of_the_user_are_served(void **unused)
{
	char local[32];

	(void)unused;
	assert_int_equal(send_and_free(bytes_of_add(65536, false)), 0);
	assert_int_equal(seen.size, 65536);
	assert_true(seen.by_operator);
	snprintf(local, sizeof local, "local:%u", (unsigned)peer);
	assert_string_equal(seen.principal, local);
	assert_int_equal(send_and_free(bytes_of_add(8, true)), 1);
	peer = 0;
	assert_true(works());
	assert_string_equal(seen.principal, "local:0");
}

static void
another_user_is_not_served(void **unused)
{
	(void)unused;
	peer = geteuid() + 1;
	assert_int_equal(send_and_free(bytes_of_add(8, false)), -1);
	assert_int_equal(seen.added, 0);
	peer = geteuid();
	assert_true(works());
}

static void
only_the_user_can_open_the_socket(void **unused)
{
	char path[128];
	struct stat st;
	struct err e;

	(void)unused;
	assert_int_equal(operator_name(PEER_vault, path, sizeof path, directory, &e), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(operator_name(PEER_vault, path, 20, directory, &e), -1);
}

/* What a gateway, an executor or nobody may send, and what this daemon has no route for. */
static void
other_messages_are_refused(void **unused)
{
	struct vault_reveal reveal = { .execution_id = (char *)(uintptr_t) "x",
		.names = { (char *[]){ (char *)(uintptr_t) "KEY" }, 1 } };
	struct vault_list list = { 0 };
	struct approval_query query = { 0 };
	struct nothing nothing = { .ok = true };

	(void)unused;
	assert_int_equal(send_and_free(bytes_of(MSG_vault_reveal, &reveal)), 1);
	assert_int_equal(seen.revealed, 0);
	assert_int_equal(send_and_free(bytes_of(MSG_vault_list, &list)), 1);
	assert_int_equal(send_and_free(bytes_of(MSG_approval_query, &query)), 1);
	assert_int_equal(send_and_free(bytes_of(MSG_nothing, &nothing)), 1);
	assert_true(works());
}

/* Half a packet, or one with another byte: refused or another message, and the next one is served.
 */
static void
what_is_no_message_is_refused(void **unused)
{
	struct blob bytes = bytes_of_add(8, true);
	char *data = bytes.data;

	(void)unused;
	for (size_t size = 1; size < bytes.size; size++)
		assert_int_equal(send_bytes(data, size), 1);
	for (size_t at = 0; at < bytes.size; at++) {
		char was = data[at];

		for (unsigned bit = 0; bit < 8; bit++) {
			data[at] = (char)(was ^ (char)(1u << bit));
			assert_int_not_equal(send_bytes(data, bytes.size), -1);
		}
		data[at] = was;
	}
	assert_int_equal(seen.revealed, 0);
	assert_true(works());
	blob_clear(&bytes);
}

static void
garbage_is_refused(void **unused)
{
	static char data[OPERATOR_BYTES + 1];
	static const char fills[] = { 0, 1, ' ', (char)0x80, (char)0xdf, (char)0xff };

	(void)unused;
	for (size_t i = 0; i < sizeof fills; i++) {
		memset(data, fills[i], sizeof data);
		for (size_t size = 1; size <= OPERATOR_BYTES; size *= 8)
			assert_int_equal(send_bytes(data, size), 1);
		assert_int_equal(send_bytes(data, OPERATOR_BYTES), 1);
		assert_int_equal(send_bytes(data, OPERATOR_BYTES + 1), -1);
	}
	assert_true(works());
}

/* The beginning of a packet that is too long is no message, even if it could be read as one. */
static void
a_packet_that_is_too_long_is_no_message(void **unused)
{
	struct blob bytes = bytes_of_add(8, false);
	char *data = calloc(1, OPERATOR_BYTES + 4096);

	(void)unused;
	assert_non_null(data);
	memcpy(data, bytes.data, bytes.size);
	assert_int_equal(send_bytes(data, OPERATOR_BYTES + 4096), -1);
	assert_int_equal(send_bytes(data, bytes.size + 1), 1);
	assert_int_equal(seen.added, 0);
	assert_int_equal(send_bytes(data, bytes.size), 0);
	assert_int_equal(seen.added, 1);
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
	assert_true(works());
}

static void
on_time(void *self)
{
	(void)self;
	loop_stop();
}

/* Longer than the time in which a packet must arrive. */
static void
a_reply_may_be_late(void **unused)
{
	struct vault_delete ask = { .name = (char *)(uintptr_t) "KEY" };
	struct blob bytes = bytes_of(MSG_vault_delete, &ask);
	struct nothing reply = { .ok = true };
	char text[256];
	struct err e;

	(void)unused;
	shortened = 20;
	auto_fd int fd = visit();

	assert_int_equal(send(fd, bytes.data, bytes.size, MSG_NOSIGNAL), bytes.size);
	blob_clear(&bytes);
	__real_loop_after(100, on_time, NULL);
	assert_int_equal(loop_run(&e), 0);
	assert_non_null(seen.kept);
	assert_true(works());
	call_reply(seen.kept, &reply);
	assert_true(await(fd, text, sizeof text) > 0);
	assert_int_equal(text[0], 0);
}

/* One more than there is room for; all others stay. */
static void
connections_are_bounded(void **unused)
{
	int fds[VISITORS];
	char reply[65536];
	struct blob bytes = bytes_of_add(8, false);

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
	assert_true(works());
	blob_clear(&bytes);
}

/* A daemon without such messages has no socket. */
static void
no_socket_without_a_message(void **unused)
{
	char path[128];
	struct stat st;
	struct err e;

	(void)unused;
	assert_int_equal(operator_open(PEER_auditd, NULL, directory, &e), 0);
	assert_int_equal(operator_open(PEER_approvald, routes, directory, &e), 0);
	assert_int_equal(operator_name(PEER_approvald, path, sizeof path, directory, &e), 0);
	assert_int_equal(stat(path, &st), -1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(messages_of_the_user_are_served),
		TEST(another_user_is_not_served),
		TEST(only_the_user_can_open_the_socket),
		TEST(other_messages_are_refused),
		TEST(what_is_no_message_is_refused),
		TEST(garbage_is_refused),
		TEST(a_packet_that_is_too_long_is_no_message),
		TEST(who_sends_nothing_is_dropped),
		TEST(a_reply_may_be_late),
		TEST(connections_are_bounded),
		TEST(no_socket_without_a_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
