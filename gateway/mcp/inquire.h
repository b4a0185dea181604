/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inquire.h - a request of a client that one message to one daemon answers, where the message is no
 * tool's.  It counts as a call under way, and ends with it when the client cancels.
 */
#pragma once

#include "gateway/mcp/method.h"

#include "common/bus/bus.h"

/* The whole answer, or NULL: it is pending anew; reply NULL: *e says why there is none.  All of it
 * is borrowed. */
typedef json_t *inquire_answer(const struct request *, void *reply, const struct err *e);

/* Asks in the name of the client; of the ask: to, instance, home, message and request, whose blobs
 * are taken.  The answer, or NULL: it is pending. */
json_t *inquire(const struct request *, struct ask, inquire_answer *);
