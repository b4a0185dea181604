/* SPDX-License-Identifier: Apache-2.0 */
/* played_network.c - implements played_network.h. */
#include "played_network.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/egress/dns.h"
#include "executor/egress/network.h"
#include "executor/egress/options.h"
#include "executor/egress/passed.h"
#include "executor/egress/resolver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include <cmocka.h>

int __wrap_call_stream(struct call *call, struct stream_part *part);
void __wrap_call_reply(struct call *call, void *reply);
void __wrap_call_fail(struct call *call, const struct err *e);
size_t __wrap_passed_take(const char *run, int *fds);
int __wrap_getsockname(int fd, struct sockaddr *to, socklen_t *size);
int __real_getsockname(int fd, struct sockaddr *to, socklen_t *size);
struct resolution *__wrap_resolver_ask(
    const char *name, void (*done)(void *self, const union address *, size_t n), void *self);
void __wrap_resolver_cancel(struct resolution *r);

struct played_run played_runs[PLAYED_RUNS + 1];
struct played played;

int
__wrap_call_stream(struct call *call, struct stream_part *part)
{
	size_t at = strlen(played.told);

	(void)call;
	snprintf(played.told + at, sizeof played.told - at, "%.*s;", (int)part->text.size,
	    (char *)part->text.data);
	blob_clear(&part->text);
	return 0;
}

void
__wrap_call_reply(struct call *call, void *reply)
{
	for (size_t i = 0; i < PLAYED_RUNS; i++)
		if (call == &played_runs[i].call) {
			played.replies++;
			played.report = *(struct network_report *)reply;
		}
}

void
__wrap_call_fail(struct call *call, const struct err *e)
{
	(void)call;
	fail_msg("%s", e->text);
}

size_t
__wrap_passed_take(const char *run, int *fds)
{
	size_t i = (size_t)(run[0] - '0');

	if (i >= PLAYED_RUNS)
		return 0;
	fds[0] = take_fd(&played_runs[i].questions);
	fds[1] = take_fd(&played_runs[i].listener);
	return fds[0] < 0 ? 0 : 2;
}

int
__wrap_getsockname(int fd, struct sockaddr *to, socklen_t *size)
{
	(void)fd;
	memcpy(to, &played.meant.v4, sizeof played.meant.v4);
	*size = sizeof played.meant.v4;
	return 0;
}

static void
answer_name(void *unused)
{
	union address address;
	size_t n = address_read(played.address, played.port, &address) == 0;

	(void)unused;
	played.waiting = 0;
	played.done(played.self, &address, n);
}

struct resolution *
__wrap_resolver_ask(
    const char *name, void (*done)(void *self, const union address *, size_t n), void *self)
{
	(void)name;
	played.done = done;
	played.self = self;
	played.waiting = loop_after(0, answer_name, NULL);
	return (struct resolution *)&played;
}

void
__wrap_resolver_cancel(struct resolution *r)
{
	if (r != NULL)
		loop_unset(played.waiting);
}

/* ---- sockets ---- */

int
played_socket(int type, union address *at)
{
	socklen_t size = sizeof at->v4;
	int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	*at = (union address){ .v4 = { .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, &at->any, size), 0);
	assert_int_equal(__real_getsockname(fd, &at->any, &size), 0);
	return fd;
}

static void
on_client(void *unused, uint32_t events)
{
	int fd = accept4(played.server, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)unused, (void)events;
	assert_true(fd >= 0 && played.nservers < COUNT(played.servers));
	played.servers[played.nservers++] = fd;
}

static void
stop(void *unused)
{
	(void)unused;
	loop_stop();
}

void
played_turn(int64_t ms)
{
	struct err e;

	for (int64_t at = 0; at < ms; at += PLAYED_SLICE_MS) {
		loop_after(PLAYED_SLICE_MS, stop, NULL);
		assert_int_equal(loop_run(&e), 0);
	}
}

/* ---- a run ---- */

int
played_serve(size_t i, const char *id, const char *principal, struct err *e)
{
	struct serve_network r = { .network = strdup(id) };
	char entry[32];
	int status;

	snprintf(entry, sizeof entry, "a.test:%u", played.port);
	assert_int_equal(texts_add(&r.domains, "*.a.test"), 0);
	assert_int_equal(texts_add(&r.domains, "a.test"), 0);
	assert_int_equal(texts_add(&r.domains, entry), 0);
	played_runs[i].call = (struct call){ .message = MSG_serve_network };
	snprintf(played_runs[i].call.owner.principal, OWNER_PRINCIPAL, "%s", principal);
	status = network_on_serve_network(&played_runs[i].call, &r, e);
	message_clear(MSG_serve_network, &r);
	return status;
}

void
played_run(size_t i, const char *principal)
{
	char id[2] = { (char)('0' + i), '\0' };
	struct err e = { 0 };

	played_runs[i].questions = played_socket(SOCK_DGRAM, &played_runs[i].at[0]);
	played_runs[i].listener = played_socket(SOCK_STREAM, &played_runs[i].at[1]);
	assert_int_equal(listen(played_runs[i].listener, 16), 0);
	if (played_serve(i, id, principal, &e) < 0)
		fail_msg("%s", e.text);
}

const char *
played_resolve(size_t run, const char *name, uint16_t type)
{
	static char text[INET_ADDRSTRLEN];
	unsigned char message[DNS_BYTES];
	struct dns_question asked = { .id = 7, .type = type };
	union address found[2];
	union address own;
	auto_fd int fd = played_socket(SOCK_DGRAM, &own);
	ssize_t n;

	snprintf(asked.name, sizeof asked.name, "%s", name);
	asked.size = dns_ask(message, asked.id, type, name);
	assert_int_equal(sendto(fd, message, asked.size, 0, &played_runs[run].at[0].any,
			     sizeof played_runs[run].at[0].v4),
	    (ssize_t)asked.size);
	n = -1;
	for (int i = 0; i < 20 && n < 0; i++) {
		played_turn(1);
		n = recv(fd, message, sizeof message, 0);
	}
	if (n < 0)
		return "silence";
	if ((message[3] & 15) != DNS_OK)
		return (message[3] & 15) == DNS_NO_NAME ? "NXDOMAIN" : "SERVFAIL";
	if (dns_read_answer(message, (size_t)n, &asked, found, COUNT(found)) != 1)
		return "none";
	return inet_ntop(AF_INET, &found[0].v4.sin_addr, text, sizeof text);
}

int
played_connect(size_t i, const char *address, uint16_t port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(address_read(address, port, &played.meant), 0);
	assert_int_equal(connect(fd, &played_runs[i].at[1].any, sizeof played_runs[i].at[1].v4), 0);
	played_turn(PLAYED_MS);
	return fd;
}

int
played_error(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);

	return n > 0 ? -1 : n == 0 ? 0 : errno;
}

void
played_refused(int fd, const char *why)
{
	assert_int_equal(played_error(fd), ECONNRESET);
	if (strstr(played.told, why) == NULL)
		fail_msg("%s: %s", why, played.told);
	close(fd);
}

int
played_set_up(void **unused)
{
	union address at;
	struct err e;

	(void)unused;
	memset(&played, 0, sizeof played);
	options = (struct options){ .max_connections = 64,
		.max_connections_each = 512,
		.max_bytes = 1 << 30,
		.connect_ms = 10000,
		.idle_ms = 120000 };
	if (loop_open(&e) < 0)
		return -1;
	played.server = played_socket(SOCK_STREAM, &at);
	played.port = ntohs(at.v4.sin_port);
	snprintf(played.address, sizeof played.address, "127.0.0.1");
	for (size_t i = 0; i < PLAYED_RUNS; i++)
		played_runs[i].questions = played_runs[i].listener = -1;
	return 0;
}

void
played_listen(void)
{
	struct err e;

	assert_int_equal(listen(played.server, 16), 0);
	assert_int_equal(loop_watch(played.server, EPOLLIN, on_client, NULL, &e), 0);
}

int
played_tear_down(void **unused)
{
	(void)unused;
	network_close();
	loop_forget(played.server);
	close(played.server);
	for (size_t i = 0; i < played.nservers; i++)
		close(played.servers[i]);
	loop_close();
	return 0;
}

int
played_allow_loopback(void **unused)
{
	struct err e;

	(void)unused;
	return address_open("127.0.0.0/8", &e);
}
