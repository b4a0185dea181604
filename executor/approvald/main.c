/* SPDX-License-Identifier: Apache-2.0 */
/*
 * approvald - keeps what programs ask of people, and what people answered.
 *
 * Trusts the gateway for who its client is and that a client's user answered, the executor for
 * whose run it is, and the kernel for the uid at the operator's socket.  A tool call can ask and
 * has no way to answer.  Only this daemon has the answers; it replies after they are durable.
 */
#include "common/daemon/daemon.h"
#include "executor/approvald/answer.h"
#include "executor/approvald/grant.h"
#include "executor/approvald/options.h"
#include "executor/approvald/request.h"
#include "executor/approvald/store.h"

#define SYSCALLS "executor/approvald/syscalls.def"
#include "common/daemon/own_syscalls.h"

static int
start(struct err *e)
{
	if (store_open(daemon_state(), e) < 0)
		return -1;
	request_watch();
	return 0;
}

static const struct route routes[] = {
	{ MSG_request_egress, FROM(gateway), request_on_egress },
	{ MSG_approval_answer, FROM(gateway), answer_on_answer },
	{ MSG_approval_query, FROM(gateway), answer_on_query },
	{ MSG_approval_grant, 0, grant_on_grant },
	{ MSG_approval_grants, FROM(executor), grant_on_grants },
	{ 0 },
};

static const struct daemon self = {
	.self = PEER_approvald,
	.settings = options_table,
	.routes = routes,
	.syscalls = syscalls,
	.refused = refused,
	.memory_bytes = (uint64_t)20
	                << 30, /* 16 of it for what strangers may announce: common/bus/server.c */
	.start = start,
	.stop = store_close,
};

int
main(int argc, char **argv)
{
	return daemon_main(argc, argv, &self);
}
