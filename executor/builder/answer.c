/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - one message over ORDER_SOCKET.  Trusts the executor to read its end. */
#include "executor/builder/answer.h"

#include "common/base/fdio.h"
#include "common/base/loop.h"

#include <errno.h>

/* If all boxes belong to one user of the host, a program can have so many descriptors in flight
 * between its own processes that the kernel passes none of this process's. */
static ssize_t
send_without(struct answer answer)
{
	answer.uses = 0;
	if (answer.kind == ANSWER_WORKSPACE)
		err_set(&answer.error, ERR_unavailable,
		    "this user has too many descriptors in transit between processes");
	return fdio_send(ORDER_SOCKET, &answer, sizeof answer, NULL, 0);
}

bool
answer_send(const struct answer *answer, const int *fds, size_t nfds)
{
	ssize_t n = fdio_send(ORDER_SOCKET, answer, sizeof *answer, fds, nfds);
	bool whole = n >= 0 || errno != ETOOMANYREFS;

	if (!whole)
		n = send_without(*answer);
	/* If the report that a box ended cannot be sent, the executor has ended. */
	if (n != (ssize_t)sizeof *answer)
		loop_stop();
	return whole;
}

void
answer_refuse(const struct order *order, const struct err *e)
{
	struct answer answer = {
		.kind = order->kind == ORDER_WORKSPACE ? ANSWER_WORKSPACE : ANSWER_ENDED,
		.id = order->id,
		.error = *e,
	};

	answer_send(&answer, NULL, 0);
}
