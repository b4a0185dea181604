/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h - answers of people.
 *
 * No message that a tool call becomes leads here.  Each channel has its own rule for who may
 * answer what; the first answer counts.
 */
#pragma once

#include "common/bus/bus.h"

struct answer {
	int verdict, duration, channel;
	const char *until, *by;
};

/* Records the event, then stores the answer.  invalid_argument: the request waits for none (for a
 * revocation: it is not approved), or the duration does not fit it. */
int answer_apply(struct approval *, const struct answer *, uint64_t now_ms, struct err *);

/* From the gateway: of a client's user, or of an approver over HTTP.  From an operator's terminal.
 */
int answer_on_answer(struct call *, void *request, struct err *);
int answer_on_query(struct call *, void *request, struct err *);
