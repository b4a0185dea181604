/* SPDX-License-Identifier: Apache-2.0 */
/* parcel.h - a message of the bus as it travels: envelope, body, blobs; each part bounded, and all
 * of them together. */
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
	PARCEL_SMALL_BYTES = 1 << 17,    /* more than any message without a blob of its own has */
	PARCEL_UNSENT_BYTES = 512 << 20, /* waiting in ZeroMQ's queues, of the whole process */
	PARCEL_UNSENT_BIG = 1 << 30,     /* of the same: small ones find room where others do not */
};

/* What a ROUTER calls a connection. */
struct address {
	uint8_t size, bytes[255];
};

struct parcel {
	struct address from; /* if it came to a ROUTER */
	char user[32];       /* whom ZAP said it is from; "" on ipc */
	int fd;              /* of its connection */
	struct envelope envelope;
	zmq_msg_t body;
	struct blob *blobs;
	size_t count, bytes;
};

/* Where parcels come from.  Of one whose envelope has been read, room() says how many bytes there
 * may be in all: what nobody waits for is dropped uncopied, and so faster than it can come. */
struct intake {
	void *socket;
	bool routed;                                       /* a ROUTER's */
	size_t (*room)(void *self, const struct parcel *); /* NULL: PARCEL_BYTES */
	void *self;
};

/* Where one goes: whose connection it is, and which. */
struct target {
	void *socket;
	const struct address *to; /* NULL: there is only one */
	enum peer reader;         /* PEER_none: it has not greeted */
};

/* 1: *p is the caller's to clear.  0: nothing came.  -1: what came is no message of ours and is
 * gone; p->from is set.  But for 0, p->bytes says how much it was. */
int parcel_receive(const struct intake *, struct parcel *p, struct err *);
void parcel_clear(struct parcel *);
/* wire_decode() of its body and blobs. */
int parcel_decode(struct parcel *, enum msg_id, void *msg, struct err *);

/* Bytes of its body and blobs. */
size_t parcel_weigh(const struct packed *);

/* Takes *content when it returns 0.  -1 with errno: EAGAIN, the connection is full or has just
 * gone; ENOBUFS, too much waits for that daemon or of this process; EHOSTUNREACH, nobody there;
 * EMSGSIZE, the envelope breaks its bounds. */
int parcel_send(const struct target *, struct envelope *, struct packed *content);
