/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bus_endless.c - messages whose parts do not end. libzmq's memory for them stays below the
 * count of recv.c, whatever the size of the parts and of the reads. The connection ends when the
 * count exceeds its bound, and the server serves other clients.
 */
#include "tests/unit/bus_peer.h"

#include "common/base/auto.h"
#include "common/bus/recv.h"
#include "common/bus/socket.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <zmq.h>

#include <cmocka.h>

enum {
	BOUND = 24 << 20,
	SLACK_KB = 24 << 10, /* a process with libzmq, and one part */
	BURST = 64 << 10,
	MOST_SINGLE = 128 << 10,
	EVENT_MS = 20000,
	RUN_MS = 20,
	RUNS = 1000,
	LARGE = 40 << 20, /* more than a stranger may send */
	CLIENTS = 4,
	FLAG_MORE = 1,
	FLAG_LONG = 2,
};

struct attack {
	size_t part;
	bool single; /* each part is read before the next one is sent */
};

static const char greeting[64] = "\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL";
static const char ready[] = "\4\34\5READY\13Socket-Type\0\0\0\6DEALER";

/* ---- the peer ---- */

static int
connect_to(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	return fd;
}

static bool
put(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		at += sent;
		size -= (size_t)sent;
	}
	return true;
}

static size_t
make_part(uint8_t *at, size_t size)
{
	size_t head = size > UINT8_MAX ? 9 : 2;

	memset(at, 0, head + size);
	at[0] = head == 9 ? FLAG_MORE | FLAG_LONG : FLAG_MORE;
	for (size_t i = 1; i < head; i++)
		at[i] = (uint8_t)(size >> (8 * (head - 1 - i)));
	return head + size;
}

/* libzmq accepts no part before it has sent its own READY. */
static void
shake_hands(int fd)
{
	uint8_t theirs[UINT8_MAX];

	assert_true(put(fd, greeting, sizeof greeting));
	assert_int_equal(recv(fd, theirs, sizeof greeting, MSG_WAITALL), sizeof greeting);
	assert_true(put(fd, ready, sizeof ready - 1));
	assert_int_equal(recv(fd, theirs, 2, MSG_WAITALL), 2);
	assert_int_equal(recv(fd, theirs, theirs[1], MSG_WAITALL), theirs[1]);
}

static void
wait_until_read(int fd)
{
	for (int left = 1; left > 0;)
		if (ioctl(fd, SIOCOUTQ, &left) < 0)
			return;
}

/* Returns the bytes after which the other side hung up, or as many as it need not accept. */
static size_t
send_endlessly(int fd, const struct attack *a)
{
	auto_free uint8_t *bytes = malloc(BURST + a->part + 9);
	size_t size = 0, sent = 0, most = a->single ? MOST_SINGLE : BOUND;

	assert_non_null(bytes);
	do
		size += make_part(bytes + size, a->part);
	while (!a->single && size < BURST);
	shake_hands(fd);
	for (; sent < most && put(fd, bytes, size); sent += size)
		if (a->single)
			wait_until_read(fd);
	return sent;
}

/* ---- a server that counts one connection, and reads nothing ---- */

static char path[64];

static _Noreturn void
serve(int bounded)
{
	struct wire_bounds bounds = { .part = 1 << 20 };
	char address[80];
	size_t unused;
	struct err e;
	int fd = -1;
	void *context = zmq_ctx_new(), *router = zmq_socket(context, ZMQ_ROUTER);
	void *monitor = zmq_socket(context, ZMQ_PAIR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(address, sizeof address, "ipc://%s", path);
	must(socket_bound_parts(router, &bounds, &unused, &e) == 0);
	must(zmq_socket_monitor(router, "inproc://monitor", ZMQ_EVENT_ACCEPTED) == 0);
	must(zmq_connect(monitor, "inproc://monitor") == 0 && zmq_bind(router, address) == 0);
	must(write(bounded, "", 1) == 1);
	zmq_pollitem_t item = { monitor, 0, ZMQ_POLLIN, 0 };
	must(zmq_poll(&item, 1, EVENT_MS) == 1 && socket_event(monitor, &fd) == ZMQ_EVENT_ACCEPTED);
	recv_bound(fd, BOUND);
	must(write(bounded, "", 1) == 1);
	pause();
	_exit(1);
}

static long
peak_kb(pid_t pid)
{
	char name[64], line[128];
	long kb = 0;

	snprintf(name, sizeof name, "/proc/%d/status", (int)pid);

	FILE *f = fopen(name, "re");

	assert_non_null(f);
	while (fgets(line, sizeof line, f) != NULL)
		sscanf(line, "VmHWM: %ld", &kb);
	fclose(f);
	return kb;
}

static void
attack(const struct attack *a)
{
	int ready_fd[2];
	char byte;

	snprintf(path, sizeof path, "%s/endless", peer_directory());
	unlink(path);
	assert_int_equal(pipe2(ready_fd, O_CLOEXEC), 0);
	pid_t server = fork();
	assert_true(server >= 0);
	if (server == 0)
		serve(ready_fd[1]);
	assert_int_equal(read(ready_fd[0], &byte, 1), 1);
	long before = peak_kb(server);
	auto_fd int fd = connect_to(path);
	assert_int_equal(read(ready_fd[0], &byte, 1), 1);
	size_t sent = send_endlessly(fd, a);
	long held = peak_kb(server) - before;
	peer_kill(server);
	close(ready_fd[0]);
	close(ready_fd[1]);
	print_message("parts of %zu bytes%s: %zu KB sent, %ld KB held\n", a->part,
	    a->single ? ", one a read" : "", sent >> 10, held);
	assert_in_range(sent, 1, (a->single ? MOST_SINGLE : BOUND) - 1);
	assert_in_range(held, 0, (BOUND >> 10) + SLACK_KB);
}

static void
the_count_covers_what_libzmq_holds(void **state)
{
	static const struct attack attacks[] = { { 0, false }, { 1, false }, { 33, false },
		{ 34, false }, { 300, false }, { 9000, false }, { 1000000, false }, { 0, true },
		{ 34, true } };

	(void)state;
	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
		attack(&attacks[i]);
}

/* ---- a server of the bus ---- */

static void
a_stranger_without_end_is_shut_out(void **state)
{
	static const struct peer_options plain;
	static const struct attack large = { 100000, false };
	char endpoint[128];

	(void)state;
	pid_t server = peer_serve(&plain);

	peer_client(&plain);
	assert_true(peer_try("echo").replied);
	long before = peak_kb(server);
	snprintf(endpoint, sizeof endpoint, "%s/executor-snapshotd/1", peer_directory());
	auto_fd int fd = connect_to(endpoint);
	peer_run(RUN_MS); /* so that the server counts */
	assert_in_range(send_endlessly(fd, &large), 1, BOUND - 1);
	assert_in_range(peak_kb(server) - before, 0, BOUND >> 10);
	for (int i = 0; i < RUNS && peer_counts().malformed == 0; i++)
		peer_run(RUN_MS);
	assert_int_equal(peer_counts().malformed, 1);
	assert_true(peer_try("echo").replied);
}

/* In a process of its own: connects and sends a large request while the server's loop is busy. */
static pid_t
ask_during(int delay_ms)
{
	static const struct peer_options other = { .instance = "2" };
	struct outcome o;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	poll(NULL, 0, delay_ms);
	peer_client(&other);
	peer_put(&o, LARGE);
	_exit(peer_wait(&o, EVENT_MS) && o.replied ? 0 : 1);
}

/* The server reads their hellos before it is notified of their connections. */
static void
a_client_may_send_much_at_once(void **state)
{
	static const struct peer_options plain;
	struct outcome late;
	pid_t clients[CLIENTS];
	int status;

	(void)state;
	peer_serve(&plain);
	for (size_t i = 0; i < CLIENTS; i++)
		clients[i] = ask_during(PEER_LATE_S * 500);
	peer_client(&plain);
	assert_true(peer_try("echo").replied);
	peer_ask(&late, "late", NULL, 0);
	assert_true(peer_wait(&late, EVENT_MS) && late.replied);
	for (size_t i = 0; i < CLIENTS; i++) {
		assert_int_equal(waitpid(clients[i], &status, 0), clients[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(peer_counts().malformed, 0);
}

#define endless_test(f) cmocka_unit_test_setup_teardown(f, peer_setup, peer_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		endless_test(the_count_covers_what_libzmq_holds),
		endless_test(a_stranger_without_end_is_shut_out),
		endless_test(a_client_may_send_much_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
