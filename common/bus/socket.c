/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket.c - creates ZeroMQ sockets with common options.
 *
 * Trusts libzmq. ZMQ_FD only reports that something happened since the last query, and a send is
 * also a query. So the descriptor is only a hint: after an event on it, and after a send, the
 * socket is checked before the next wait. Only that socket is checked, because a check costs two
 * system calls.
 *
 * What libzmq 4.3.4 does with the bounds (measured with a ROUTER that does not read, over ipc):
 * ZMQ_RCVHWM counts whole messages of any size. When that many wait, its thread stops reading the
 * connection and holds one more message; the rest stays in the kernel and with the sender. With a
 * limit of 1,000 it accepted every message of 1 MB, with 8 it accepted 9. ZMQ_MAXMSGSIZE bounds a
 * part before memory is allocated for it. The number of parts is not bounded, and the parts of an
 * unfinished message are not counted: recv.c does both, and bounds the bytes of all that wait.
 * After each half of ZMQ_RCVHWM messages a reader wakes libzmq's thread, with 2 after each message:
 * that cost 70 us a call (tests/bench/compare). ZMQ_SNDHWM stays high: a full queue reports room
 * only at the next check.
 */
#include "common/bus/socket.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/bus/bus_message.h"
#include "common/bus/recv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <zmq.h>

enum {
	QUEUE = 1000, /* sent messages per connection; their bytes: bus_message.c */
	TAKEN = 8,    /* received messages per connection that are not read yet */
	TAKEN_LARGE =
	    2, /* of them, as large as a message can be, if TAKEN such are too many bytes */
	TAKEN_BYTES = 512 << 20,
	HEADS = 2, /* parts before the blobs: envelope, body */
	LINGER_MS = 200,
	HANDSHAKE_MS = 1000,
};

static int
zmq_err(struct err *e, const char *what)
{
	return err_set(e, ERR_internal, "%s: %s", what, zmq_strerror(zmq_errno()));
}

int
socket_set_int(void *socket, int option, const char *name, int value, struct err *e)
{
	return zmq_setsockopt(socket, option, &value, sizeof value) < 0 ? zmq_err(e, name) : 0;
}

int
socket_set_text(void *socket, int option, const char *name, const char *value, struct err *e)
{
	return zmq_setsockopt(socket, option, value, strlen(value)) < 0 ? zmq_err(e, name) : 0;
}

int
socket_bound_parts(void *socket, const struct wire_bounds *bounds, size_t *most, struct err *e)
{
	int64_t part = (int64_t)bounds->part;
	size_t parts = HEADS + bounds->blobs, bytes = parts * bounds->part;

	bytes = bytes < BUS_MESSAGE_BYTES ? bytes : BUS_MESSAGE_BYTES;
	*most = recv_cost(TAKEN * bytes <= TAKEN_BYTES ? TAKEN : TAKEN_LARGE, bytes, parts);
	if (zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &part, sizeof part) < 0)
		return zmq_err(e, "ZMQ_MAXMSGSIZE");
	return socket_set_int(socket, ZMQ_RCVHWM, "ZMQ_RCVHWM", TAKEN, e);
}

static int
set_bounds(void *socket, struct err *e)
{
	if (socket_set_int(socket, ZMQ_SNDHWM, "ZMQ_SNDHWM", QUEUE, e) < 0 ||
	    socket_set_int(socket, ZMQ_LINGER, "ZMQ_LINGER", LINGER_MS, e) < 0)
		return -1;
	return socket_set_int(socket, ZMQ_HANDSHAKE_IVL, "ZMQ_HANDSHAKE_IVL", HANDSHAKE_MS, e);
}

static void
wake(void *stirred, uint32_t events)
{
	(void)events;
	*(bool *)stirred = true;
}

static int
descriptor(void *socket)
{
	int fd;
	size_t size = sizeof fd;

	return zmq_getsockopt(socket, ZMQ_FD, &fd, &size) < 0 ? -1 : fd;
}

static int
watch(void *socket, void (*ready)(void *self, uint32_t events), void *self, struct err *e)
{
	int fd = descriptor(socket);

	return fd < 0 ? zmq_err(e, "ZMQ_FD") : loop_watch(fd, EPOLLIN, ready, self, e);
}

void *
socket_open(void *context, int type, bool *stirred, struct err *e)
{
	void *socket = zmq_socket(context, type);

	*stirred = true;
	if (socket == NULL) {
		zmq_err(e, "zmq_socket");
		return NULL;
	}
	if (set_bounds(socket, e) == 0 && watch(socket, wake, stirred, e) == 0)
		return socket;
	zmq_close(socket);
	return NULL;
}

void
socket_close(void *socket)
{
	if (socket == NULL)
		return;
	loop_forget(descriptor(socket));
	zmq_close(socket);
}

/*
 * Its queue is unbounded: otherwise libzmq's io thread, and all peers with it, would wait for
 * room. Nothing is ever sent on this socket, so no send can consume the edge of its descriptor,
 * and the loop suffices.
 */
void *
socket_monitor(void *context, void *socket, int events, void (*happened)(void *self, uint32_t),
    void *self, struct err *e)
{
	static unsigned count;
	char name[32];
	void *pair = zmq_socket(context, ZMQ_PAIR);

	snprintf(name, sizeof name, "inproc://monitor.%u", ++count);
	if (pair == NULL || socket_set_int(pair, ZMQ_RCVHWM, "ZMQ_RCVHWM", 0, e) < 0 ||
	    zmq_socket_monitor(socket, name, events) < 0 || zmq_connect(pair, name) < 0) {
		zmq_err(e, "monitor a socket");
	} else if (watch(pair, happened, self, e) == 0) {
		/* A reader is only notified of new messages after it found the socket empty
		 * once. */
		must(socket_event(pair, &(int){ 0 }) == 0);
		return pair;
	}
	if (pair != NULL)
		zmq_close(pair);
	return NULL;
}

/* libzmq leaks an event whose monitor is closed, so events are stopped first. */
void
socket_close_both(void *socket, void *monitor)
{
	if (socket != NULL)
		zmq_socket_monitor(socket, NULL, 0);
	socket_close(socket);
	socket_close(monitor);
}

/* Two parts: number and value of the event; the address. */
int
socket_event(void *monitor, int *fd)
{
	struct __attribute__((packed)) {
		uint16_t number;
		int32_t value;
	} event = { 0, -1 };
	zmq_msg_t part;
	bool more = true;

	for (int i = 0; more; i++) {
		zmq_msg_init(&part);
		more = zmq_msg_recv(&part, monitor, ZMQ_DONTWAIT) >= 0 && zmq_msg_more(&part);
		if (i == 0 && zmq_msg_size(&part) >= sizeof event)
			memcpy(&event, zmq_msg_data(&part), sizeof event);
		zmq_msg_close(&part);
	}
	*fd = event.value;
	return event.number;
}
