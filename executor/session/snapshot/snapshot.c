/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - calls that are forwarded to snapshotd, which checks the owner of what they name. */
#include "executor/session/snapshot/snapshot.h"

#include "executor/options.h"

static void
answered(void *self, void *reply, const struct err *e)
{
	if (reply != NULL)
		call_reply(self, reply);
	else
		call_fail(self, e);
}

int
snapshot_pass_on(struct call *call, enum msg_id message, void *request, struct err *e)
{
	const struct ask ask = {
		.to = PEER_snapshotd,
		.message = message,
		.request = request,
		.owner = &call->owner,
		.trace = call->trace,
		.timeout_ms = (int64_t)options.snapshot_ms,
		.self = call,
		.done = answered,
	};

	return bus_ask(&ask, e) != 0 ? 0 : -1;
}

int
snapshot_on_list_state_snapshots(struct call *call, void *request, struct err *e)
{
	const struct list_state_snapshots *ask = request;
	struct snapshot_query query = { .session_id = ask->session_id };

	return snapshot_pass_on(call, MSG_snapshot_query, &query, e);
}

int
snapshot_on_delete_state_snapshot(struct call *call, void *request, struct err *e)
{
	const struct delete_state_snapshot *ask = request;
	struct snapshot_drop drop = { .snapshot_id = ask->snapshot_id };

	return snapshot_pass_on(call, MSG_snapshot_drop, &drop, e);
}
