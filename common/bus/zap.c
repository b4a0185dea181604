/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zap.c - ZeroMQ's authentication protocol (RFC 27) as a socket of our own loop, not a thread.
 *
 * Trusts libzmq, which sends the requests, and the keys. The reply names the daemon; libzmq
 * attaches that name to every message of the connection, where bus_message.c reads it.
 */
#include "common/bus/zap.h"
#include "common/bus/bus.h"

#include "common/base/auto.h"
#include "common/bus/inner.h"
#include "common/bus/socket.h"

#include <sodium.h>
#include <string.h>
#include <zmq.h>

enum question {
	VERSION,
	REQUEST,
	DOMAIN,
	ADDRESS,
	IDENTITY,
	MECHANISM,
	KEY,
	PARTS,
};

static struct {
	void *socket;
	bool stirred; /* as socket.h says */
	uint8_t keys[PEER_COUNT][32];
	bool client[PEER_COUNT];
} zap;

int
zap_open(void *context, enum peer self, const struct keys *keys, struct err *e)
{
	for (enum peer peer = PEER_FIRST; peer < PEER_COUNT; peer++) {
		zap.client[peer] = edge_find(peer, self) != NULL;
		if (zap.client[peer])
			must(zmq_z85_decode(zap.keys[peer], keys->peers[peer]) != NULL);
	}
	zap.socket = socket_open(context, ZMQ_REP, &zap.stirred, e);
	if (zap.socket == NULL)
		return -1;
	if (zmq_bind(zap.socket, "inproc://zeromq.zap.01") < 0)
		return err_set(e, ERR_internal, "bind ZAP: %s", zmq_strerror(zmq_errno()));
	return 0;
}

void
zap_close(void)
{
	socket_close(take_ptr(zap.socket));
	memset(&zap, 0, sizeof zap);
}

static bool
is(zmq_msg_t *part, const char *text)
{
	return zmq_msg_size(part) == strlen(text) &&
	       memcmp(zmq_msg_data(part), text, strlen(text)) == 0;
}

static enum peer
whose(zmq_msg_t parts[PARTS], size_t n)
{
	if (n != PARTS || !is(&parts[VERSION], "1.0") || !is(&parts[MECHANISM], "CURVE") ||
	    zmq_msg_size(&parts[KEY]) != sizeof zap.keys[0])
		return PEER_none;
	for (enum peer peer = PEER_FIRST; peer < PEER_COUNT; peer++)
		if (zap.client[peer] && sodium_memcmp(zmq_msg_data(&parts[KEY]), zap.keys[peer],
					    sizeof zap.keys[peer]) == 0)
			return peer;
	return PEER_none;
}

static void
answer(zmq_msg_t *request, enum peer peer)
{
	bool known = peer != PEER_none;
	const char *texts[] = { known ? "200" : "400", known ? "OK" : "unknown key",
		known ? edge_peer_name(peer) : "", "" };

	zmq_send(zap.socket, "1.0", 3, ZMQ_SNDMORE);
	zmq_msg_send(request, zap.socket, ZMQ_SNDMORE);
	for (size_t i = 0; i < COUNT(texts); i++)
		zmq_send(
		    zap.socket, texts[i], strlen(texts[i]), i + 1 < COUNT(texts) ? ZMQ_SNDMORE : 0);
}

/* Answers one request; false: there is none. */
static bool
serve(void)
{
	zmq_msg_t parts[PARTS], extra;
	size_t n = 0;
	bool more = true;

	for (; more; n++) {
		zmq_msg_t *part = n < PARTS ? &parts[n] : &extra;

		zmq_msg_init(part);
		if (zmq_msg_recv(part, zap.socket, ZMQ_DONTWAIT) < 0) {
			zmq_msg_close(part);
			return false;
		}
		more = zmq_msg_more(part) != 0;
		if (part == &extra)
			zmq_msg_close(part);
	}
	if (n > REQUEST)
		answer(&parts[REQUEST], whose(parts, n));
	for (size_t i = 0; i < n && i < PARTS; i++)
		zmq_msg_close(&parts[i]);
	return true;
}

bool
zap_pump(void)
{
	for (int i = 0; i < BUS_BATCH && zap.stirred; i++)
		zap.stirred = serve();
	return zap.stirred;
}
