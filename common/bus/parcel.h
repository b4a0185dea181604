/* SPDX-License-Identifier: Apache-2.0 */
/* parcel.h - a message of the bus on the wire: envelope, body, blobs. Each part and their sum are
 * bounded. */
#pragma once

#include "common/base/err.h"
#include "common/codec/wire.h"
#include "common/table/edges.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <zmq.h>

enum {
	PARCEL_PART_BYTES = 256 << 20, /* the largest blob of schema.def */
	PARCEL_BYTES = PARCEL_PART_BYTES + WIRE_MAX_BODY,
	PARCEL_SMALL_BYTES = 1 << 17,    /* more than any message without a blob */
	PARCEL_UNSENT_BYTES = 512 << 20, /* bytes in ZeroMQ's queues, for the whole process */
	PARCEL_UNSENT_BIG =
	    1 << 30, /* the same for small messages, which still fit when others do not */
};

/* The routing id that a ROUTER gives a connection. */
struct address {
	uint8_t size, bytes[255];
};

struct parcel {
	struct address from; /* if received by a ROUTER */
	char user[32];       /* sender as ZAP identified it; "" on ipc */
	int fd;              /* descriptor of its connection */
	struct envelope envelope;
	zmq_msg_t body;
	struct blob *blobs;
	size_t count, bytes;
};

/* A source of messages. When the envelope has been read, room() returns the maximum size of the
 * whole message. A message that is not expected is dropped without a copy, faster than it can
 * arrive. */
struct intake {
	void *socket;
	bool routed;                                       /* socket is a ROUTER */
	size_t (*room)(void *self, const struct parcel *); /* NULL: PARCEL_BYTES */
	void *self;
};

/* A destination: the connection, and the daemon at its other end. */
struct target {
	void *socket;
	const struct address *to; /* NULL: the only connection */
	enum peer reader;         /* PEER_none: no hello yet */
};

/* 1: received; the caller clears *p. 0: nothing to receive. -1: an invalid message, dropped;
 * p->from is set. For 1 and -1, p->bytes is its size. */
int parcel_receive(const struct intake *, struct parcel *p, struct err *);
void parcel_clear(struct parcel *);
/* wire_decode() of its body and blobs. */
int parcel_decode(struct parcel *, enum msg_id, void *msg, struct err *);

/* Bytes of its body and blobs. */
size_t parcel_weigh(const struct packed *);

/* Takes *content when it returns 0. -1 with errno: EAGAIN, the queue of the connection is full or
 * it has just closed; ENOBUFS, too many bytes wait for that daemon or in this process;
 * EHOSTUNREACH, no such connection; EMSGSIZE, the envelope exceeds its bounds. */
int parcel_send(const struct target *, struct envelope *, struct packed *content);
