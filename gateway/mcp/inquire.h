/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inquire.h - a client's request that is answered by one message to one daemon, where the message
 * belongs to no tool.  It counts as a call in progress.  If the client cancels it, the message is
 * cancelled too.
 */
#pragma once

#include "gateway/mcp/method.h"

#include "common/bus/bus.h"

/* Returns the whole answer, or NULL: it is pending again.  reply NULL: *e says why there is
 * none.  All arguments are borrowed. */
typedef json_t *inquire_answer(const struct request *, void *reply, const struct err *e);

/* Sends the message in the name of the client.  Of the ask it uses to, instance, home, message
 * and request, and takes the request's blobs.  Returns the answer, or NULL: it is pending. */
json_t *inquire(const struct request *, struct ask, inquire_answer *);
