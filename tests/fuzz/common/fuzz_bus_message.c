/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_bus_message.c - parts of a message of the bus, as a compromised peer may send them.
 *
 * Input: does an address stand before them (1 byte), and each part (size in 2, little endian, and
 * its bytes).  Whatever they are, the message behind them comes as it was sent.
 */
#include "common/base/auto.h"
#include "common/bus/bus_message.h"

#include <signal.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *near, *far;

static void
set_up(void)
{
	void *context = zmq_ctx_new();

	near = zmq_socket(context, ZMQ_PAIR);
	far = zmq_socket(context, ZMQ_PAIR);
	must(zmq_setsockopt(near, ZMQ_RCVHWM, &(int){ 0 }, sizeof(int)) == 0);
	must(zmq_setsockopt(far, ZMQ_SNDHWM, &(int){ 0 }, sizeof(int)) == 0);
	must(zmq_bind(near, "inproc://bus_message") == 0 &&
	     zmq_connect(far, "inproc://bus_message") == 0);
}

static void
send_parts(const uint8_t *data, size_t size)
{
	for (const uint8_t *end = data + size; data < end;) {
		size_t left = (size_t)(end - data);
		size_t n = left >= 2 ? (size_t)data[0] | (size_t)data[1] << 8 : 0;

		data += left >= 2 ? 2 : left;
		n = n < (size_t)(end - data) ? n : (size_t)(end - data);
		must(zmq_send(far, data, n, ZMQ_DONTWAIT | (data + n < end ? ZMQ_SNDMORE : 0)) ==
		     (int)n);
		data += n;
	}
}

static void
send_known(bool routed)
{
	struct envelope envelope = { .frame = frame_request, .id = 7 };
	struct address from = { .size = 2, .bytes = "me" };
	struct packed content = { .body = blob_copy("b", 1) };

	const struct target target = { .socket = far, .to = routed ? &from : NULL };

	must(bus_message_send(&target, &envelope, &content) == 0);
}

static void
receive_known(bool routed)
{
	const struct receiver in = { .socket = near, .routed = routed };
	struct bus_message p;
	struct err e;

	must(bus_message_receive(&in, &p, &e) == 1);
	must(p.envelope.id == 7 && p.count == 0 && zmq_msg_size(&p.body) == 1);
	must(!routed || (p.from.size == 2 && memcmp(p.from.bytes, "me", 2) == 0));
	bus_message_clear(&p);
	must(bus_message_receive(&in, &p, &e) == 0);
}

static void
try(const uint8_t *data, size_t size)
{
	struct err e = { 0 };
	struct bus_message p;
	bool routed = data[0] % 2 == 1;
	const struct receiver in = { .socket = near, .routed = routed };

	send_parts(data + 1, size - 1);
	send_known(routed);
	if (bus_message_receive(&in, &p, &e) == 1) {
		must(p.count <= WIRE_MAX_BLOBS && p.bytes < size);
		bus_message_clear(&p);
	} else {
		must(e.code != ERR_none && *e.text != '\0');
	}
	receive_known(routed);
}

/* libFuzzer's clock is a signal, and the daemons, in whose calls none can fall, have none. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	sigset_t alarm;

	if (size < 2)
		return -1;
	if (near == NULL)
		set_up();
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	must(sigprocmask(SIG_BLOCK, &alarm, NULL) == 0);
	try(data, size);
	must(sigprocmask(SIG_UNBLOCK, &alarm, NULL) == 0);
	return 0;
}
