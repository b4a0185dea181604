/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - one MCP client: what was agreed with it, what it waits for, and where answers go.
 *
 * A transport owns the client and gives it a way to send; everything else sees only this.
 */
#pragma once

#include "gateway/era.h"

struct call_out;

struct client {
	const char *principal;  /* as the transport authenticated it */
	const struct era *era;  /* of its initialize; NULL: none came */
	struct call_out *calls; /* under way, see calls.h */
	size_t count, held;     /* of them; bytes of their messages */
	void (*send)(struct client *, const json_t *message);
	bool (*slow)(struct client *); /* it does not read what it was sent */
};

/* An array of messages, answered by an array once each of them is. */
struct batch;

/* Where an answer belongs. */
struct origin {
	struct client *client;
	struct batch *batch; /* NULL: on its own */
	const struct era *era;
	json_t *id; /* borrowed by requests, owned by calls */
};

/* Sends and takes the message; NULL: nothing is to be said, which ends a place in a batch, too. */
void client_answer(const struct origin *, json_t *message);

/* A batch with one place, that of its reader; each message that will be answered takes one more. */
struct batch *client_batch(void);
void client_batch_hold(struct batch *);
