/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bus_message.c - parts of a ZeroMQ message, read and written.
 *
 * Trusts no peer: the number of parts and their sum are bounded, and the rest of a message that
 * exceeds the bounds is read and dropped, so that the next one starts in sync. libzmq delivers a
 * message when its last part has arrived, so reading never blocks.
 */
#include "common/bus/bus_message.h"

#include "common/base/auto.h"
#include "common/bus/recv.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Bytes of bodies and blobs, for each daemon over all its connections. */
static atomic_size_t unsent[PEER_COUNT];

void
bus_message_clear(struct bus_message *p)
{
	message_clear(MSG_envelope, &p->envelope);
	zmq_msg_close(&p->body);
	for (size_t i = 0; i < p->count; i++)
		blob_clear(&p->blobs[i]);
	free(p->blobs);
	p->blobs = NULL;
	p->count = 0;
}

/* ---- receiving ---- */

static int
take_blob(struct bus_message *p, zmq_msg_t *part, struct err *e)
{
	if (p->count == WIRE_MAX_BLOBS)
		return err_set(e, ERR_limit_exceeded, "more than %d blobs", WIRE_MAX_BLOBS);
	if ((p->count & (p->count - 1)) == 0) { /* full: double the capacity */
		size_t room = p->count == 0 ? 1 : p->count * 2;
		struct blob *grown = reallocarray(p->blobs, room, sizeof *grown);

		if (grown == NULL)
			return err_sys(e, "blobs");
		p->blobs = grown;
	}
	struct blob blob = blob_copy(zmq_msg_data(part), zmq_msg_size(part));
	if (blob.data == NULL)
		return err_sys(e, "blob of %zu bytes", zmq_msg_size(part));
	p->blobs[p->count++] = blob;
	return 0;
}

static int
take_envelope(struct bus_message *p, zmq_msg_t *part, struct err *e)
{
	const char *user = zmq_msg_gets(part, "User-Id");

	if (user != NULL)
		snprintf(p->user, sizeof p->user, "%s", user);

	struct packed packed = { .body = { zmq_msg_data(part), zmq_msg_size(part) } };

	if (wire_decode(MSG_envelope, &packed, &p->envelope, e) < 0)
		return err_add(e, "envelope");
	return 0;
}

static int
take_part(
    const struct receiver *in, struct bus_message *p, size_t at, zmq_msg_t *part, struct err *e)
{
	size_t size = zmq_msg_size(part);
	size_t room = at < 2             ? BUS_MESSAGE_SMALL_BYTES
	              : in->room == NULL ? BUS_MESSAGE_BYTES
	                                 : in->room(in->self, p);

	if (p->bytes > room)
		return err_set(e, ERR_limit_exceeded, "more than %zu bytes", room);
	switch (at) {
	case 0:
		p->from.size = (uint8_t)size;
		memcpy(p->from.bytes, zmq_msg_data(part), p->from.size);
		return 0;
	case 1:
		return take_envelope(p, part, e);
	case 2:
		if (size > WIRE_MAX_BODY)
			return err_set(e, ERR_limit_exceeded, "a body of %zu bytes", size);
		return zmq_msg_move(&p->body, part);
	default:
		return take_blob(p, part, e);
	}
}

int
bus_message_receive(const struct receiver *in, struct bus_message *p, struct err *e)
{
	bool good = true, more = true;
	zmq_msg_t part;
	size_t at;

	*p = (struct bus_message){ .fd = -1 };
	zmq_msg_init(&p->body);
	for (at = in->routed ? 0 : 1; more; at++) {
		zmq_msg_init(&part);
		if (zmq_msg_recv(&part, in->socket, ZMQ_DONTWAIT) < 0) {
			zmq_msg_close(&part);
			return 0;
		}
		more = zmq_msg_more(&part) != 0;
		p->bytes += zmq_msg_size(&part);
		if (at == 1)
			p->fd = zmq_msg_get(&part, ZMQ_SRCFD);
		good = good && take_part(in, p, at, &part, e) == 0;
		zmq_msg_close(&part);
	}
	recv_heard(p->fd);
	if (good && at < 2)
		good = err_set(e, ERR_invalid_argument, "no envelope") == 0;
	if (good)
		return 1;
	bus_message_clear(p);
	return -1;
}

int
bus_message_decode(struct bus_message *p, enum msg_id id, void *msg, struct err *e)
{
	struct packed packed = {
		.body = { zmq_msg_data(&p->body), zmq_msg_size(&p->body) },
		.blobs = p->blobs,
		.count = p->count,
	};

	return wire_decode(id, &packed, msg, e);
}

/* ---- sending ---- */

/* The note for release() about a part: its size, and the daemon it is sent to. */
_Static_assert(PEER_COUNT <= 16, "the note has four bits for it");

/* Called on ZeroMQ's thread when it has written or discarded the part. */
static void
release(void *data, void *note)
{
	uintptr_t size = (uintptr_t)note >> 4, reader = (uintptr_t)note & 15;

	atomic_fetch_sub(&unsent[reader], size);
	free(data);
}

static int
send_part(void *socket, zmq_msg_t *part, bool more)
{
	int flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0);

	if (zmq_msg_send(part, socket, flags) >= 0)
		return 0;
	int why = zmq_errno();
	zmq_msg_close(part);
	errno = why;
	return -1;
}

static int
send_blob(const struct target *t, struct blob *b, bool more)
{
	zmq_msg_t part;
	size_t size = b->size;
	void *note = (void *)((uintptr_t)size << 4 | t->reader);

	atomic_fetch_add(&unsent[t->reader], size);
	must(zmq_msg_init_data(&part, take_ptr(b->data), size, release, note) == 0);
	b->size = 0;
	return send_part(t->socket, &part, more);
}

static int
send_address(void *socket, const struct address *to)
{
	zmq_msg_t part;

	must(zmq_msg_init_size(&part, to->size) == 0);
	memcpy(zmq_msg_data(&part), to->bytes, to->size);
	return send_part(socket, &part, true);
}

size_t
bus_message_weigh(const struct packed *content)
{
	size_t sum = content->body.size;

	for (size_t i = 0; i < content->count; i++)
		sum += content->blobs[i].size;
	return sum;
}

/* A daemon that does not read must not keep replies to others from being sent. */
static bool
fits(const struct packed *content, enum peer reader)
{
	size_t sum = bus_message_weigh(content), all = 0, mine = atomic_load(&unsent[reader]);

	for (enum peer peer = 0; peer < PEER_COUNT; peer++)
		all += atomic_load(&unsent[peer]);
	if (sum <= BUS_MESSAGE_SMALL_BYTES)
		return mine + sum <= BUS_MESSAGE_UNSENT_BYTES &&
		       all + sum <= BUS_MESSAGE_UNSENT_BIG;
	return (mine == 0 || mine + sum <= BUS_MESSAGE_BYTES) &&
	       (all == 0 || all + sum <= BUS_MESSAGE_UNSENT_BYTES);
}

/*
 * Only the first part can be refused. If a later one is, the connection closed between the two.
 * libzmq then drops the sent parts of the message, and must be given the remaining parts to drop,
 * too.
 */
int
bus_message_send(const struct target *t, struct envelope *envelope, struct packed *content)
{
	struct packed head = { 0 };
	bool body = content->body.data != NULL, gone = false;
	struct err e;

	if (!fits(content, t->reader)) {
		errno = ENOBUFS;
		return -1;
	}
	if (wire_encode(MSG_envelope, envelope, &head, &e) < 0) {
		errno = EMSGSIZE;
		return -1;
	}
	if (t->to != NULL && send_address(t->socket, t->to) < 0) {
		packed_clear(&head);
		return -1;
	}
	gone = send_blob(t, &head.body, body) < 0;
	packed_clear(&head);
	if (gone && t->to == NULL)
		return -1;
	if (body)
		gone |= send_blob(t, &content->body, content->count > 0) < 0;
	for (size_t i = 0; i < content->count; i++)
		gone |= send_blob(t, &content->blobs[i], i + 1 < content->count) < 0;
	packed_clear(content);
	if (gone)
		errno = EHOSTUNREACH;
	return gone ? -1 : 0;
}
