/* SPDX-License-Identifier: Apache-2.0 */
/* limits_tools.c - the call that sets limits of later runs, of the principal or of one session. */
#include "executor/tools/limits_tools.h"

#include "executor/run/own_limits.h"
#include "executor/run/rights_limits.h"
#include "executor/session/session.h"

#include <string.h>

/* The box and the workspace of a session cannot be changed. */
static int
set_in_session(struct session *session, const struct rights *rights,
    const struct resource_limits *asked, struct limits *limits, struct err *e)
{
	struct limits same;

	*limits = session->limits;
	if (limits_ask(limits, "resource_limits.", asked, e) < 0 ||
	    rights_limits(limits, &session->limits, false, rights, e) < 0)
		return -1;
	same = *limits;
	same.box.wall_ms = session->limits.box.wall_ms;
	same.timed = session->limits.timed;
	same.box.cpu_ms = session->limits.box.cpu_ms;
	same.box.output_bytes = session->limits.box.output_bytes;
	if (memcmp(&same, &session->limits, sizeof same) != 0)
		return err_set(e, ERR_invalid_argument,
		    "resource_limits: only timeout_seconds, max_cpu_seconds and max_output_bytes "
		    "can change in an existing session; set the others in create_session");
	session->limits = *limits;
	return 0;
}

int
limits_tools_on_set_resource_limits(struct call *call, void *request, struct err *e)
{
	const struct set_resource_limits *ask = request;
	struct session *session = NULL;
	const struct rights *rights = rights_of(&call->owner);
	struct limits limits = *own_limits_of(&call->owner), before = limits;
	struct resource_limits reply;
	int status;

	if (call->owner.principal[0] == 0)
		return err_set(
		    e, ERR_unauthenticated, "only an authenticated caller can set limits");
	if (ask->session_id != NULL && (session = session_find(call, ask->session_id, e)) == NULL)
		return -1;
	if (session != NULL)
		status = set_in_session(session, rights, ask->resource_limits, &limits, e);
	else if ((status = limits_ask(&limits, "resource_limits.", ask->resource_limits, e)) == 0 &&
		 (status = rights_limits(&limits, &before, true, rights, e)) == 0)
		status = own_limits_keep(&call->owner, &limits, e);
	if (status < 0)
		return -1;
	limits_tell(&limits, &reply);
	call_reply(call, &reply);
	return 0;
}
