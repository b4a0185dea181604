/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_operator.c - any packets at the operator's socket.
 *
 * Input: packets, each after its size (2 bytes).  Each gets one whole reply or, if it is empty,
 * none. What is refused leaves no record, and what is granted is canonical and ends.
 */
#include "executor/approvald/answer.h"
#include "executor/approvald/grant.h"
#include "executor/approvald/kind.h"
#include "executor/approvald/options.h"
#include "executor/approvald/request.h"
#include "executor/approvald/store.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/codec/wire.h"
#include "common/daemon/operator.h"
#include "common/journal/spool.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define DIRECTORY "fuzz-operator"

enum { PACKETS = 8, NOW_S = 1800000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
uint64_t __wrap_timestamp_ms(void);
int __wrap_spool_record(struct audit_event *event, struct err *e);
void __wrap_hash_random_hex(char *text, size_t size);

static char reply[OPERATOR_REPLY_BYTES];

/* Waiting for the disk shows nothing here. */
int
fsync(int fd)
{
	return fd >= 0 ? 0 : -1;
}

uint64_t
__wrap_timestamp_ms(void)
{
	return (uint64_t)NOW_S * 1000;
}

int
__wrap_spool_record(struct audit_event *event, struct err *e)
{
	(void)e;
	must(event->detail != NULL && event->detail[0] != '\0');
	return 0;
}

/* An input can name the first record: 0000000000000000. */
static unsigned named;

void
__wrap_hash_random_hex(char *text, size_t size)
{
	snprintf(text, size, "%0*x", (int)size - 1, named++);
}

/* As in main.c. */
static const struct route routes[] = {
	{ MSG_approval_answer, FROM(gateway), answer_on_answer },
	{ MSG_approval_query, FROM(gateway), answer_on_query },
	{ MSG_approval_grant, 0, grant_on_grant },
	{ MSG_approval_grants, FROM(executor), grant_on_grants },
	{ 0 },
};

static void
begin(void)
{
	const struct bus_config config = {
		.self = PEER_approvald, .run = DIRECTORY, .run_fd = -1, .routes = routes
	};
	static bool begun;
	struct err e;

	if (begun)
		return;
	begun = true;
	options = (struct options){ .approval_timeout_s = 120,
		.namespace_days = 366,
		.session_hours = 24,
		.max_pending = 16,
		.max_records = 64,
		.max_all_records = 64 };
	must(mkdir(DIRECTORY, 0700) == 0 || access(DIRECTORY, W_OK) == 0);
	must(store_open(open(DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &e) == 0);
	must(loop_open(&e) == 0 && bus_prepare(&config, &e) == 0);
	must(operator_open(PEER_approvald, routes, DIRECTORY, &e) == 0 && operator_start(&e) == 0);
}

static void
on_reply(void *self, uint32_t events)
{
	(void)self, (void)events;
	loop_stop();
}

/* The size of the reply. */
static size_t
visit(const uint8_t *data, size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX,
		.sun_path = DIRECTORY "/approvald.sock" };
	auto_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct err e;
	ssize_t n;

	must(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
	must(send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size);
	must(loop_watch(fd, EPOLLIN | EPOLLRDHUP, on_reply, NULL, &e) == 0 && loop_run(&e) == 0);
	loop_forget(fd);
	n = recv(fd, reply, sizeof reply, MSG_DONTWAIT | MSG_TRUNC);
	must(n < (ssize_t)sizeof reply);
	return n > 0 ? (size_t)n : 0;
}

/* true: the message was served. */
static bool
check_reply(const uint8_t *data, size_t size)
{
	const struct blob bytes = { reply + 1, size - 1 };
	const bool refused = reply[0] != 0;
	/* What was served had a whole name. */
	const enum msg_id id =
	    refused ? MSG_failure : messages[message_find((const char *)data)].reply;
	auto_free void *message = calloc(1, messages[id].size);
	struct packed packed = { 0 };
	struct err e;

	must(reply[0] == 0 || reply[0] == 1);
	must(id != MSG_none && message != NULL);
	must(wire_raise(&bytes, &packed, &e) == 0);
	must(wire_decode(id, &packed, message, &e) == 0);
	packed_clear(&packed);
	message_clear(id, message);
	return !refused;
}

static size_t
count(void)
{
	size_t n = 0;

	while (store_at(n) != NULL)
		n++;
	return n;
}

static void
check_newest(void)
{
	const struct approval *a = store_at(count() - 1);
	char canonical[KIND_SUBJECT];
	struct err e;

	must(a->granted && a->state == approval_state_approved && a->principal != NULL);
	must(a->until_ms > __wrap_timestamp_ms() &&
	     a->until_ms < __wrap_timestamp_ms() + UINT64_C(368) * 86400000);
	must(kind_row(a->kind)->check(a->subject, canonical, &e) == 0 &&
	     strcmp(canonical, a->subject) == 0);
}

static void
send_one(const uint8_t *data, size_t size)
{
	size_t before = count(), n = visit(data, size);

	if (size == 0) {
		must(n == 0 && count() == before);
		return;
	}
	must(n > 0);
	if (!check_reply(data, n))
		must(count() == before);
	else if (count() > before)
		check_newest();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct owner ann = { "local:1", "" };
	const struct wish w = { .kind = approval_kind_egress, .owner = &ann, .subject = "a.test" };
	struct err e;

	begin();
	named = 0;
	must(request_make(&w, __wrap_timestamp_ms(), &e) != NULL);
	for (int i = 0; i < PACKETS && size >= 2; i++) {
		size_t n = (size_t)data[0] | (size_t)data[1] << 8;

		data += 2;
		size -= 2;
		n = n < size ? n : size;
		send_one(data, n);
		data += n;
		size -= n;
	}
	while (store_at(0) != NULL)
		store_remove(store_at(0));
	return 0;
}
