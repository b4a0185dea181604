/* SPDX-License-Identifier: Apache-2.0 */
/* run_tools.c - the calls that run code: the same execution with different parameters. */
#include "executor/tools/run_tools.h"

#include "executor/run/run.h"

int
run_tools_on_execute_code(struct call *call, void *request, struct err *e)
{
	struct execute_code *ask = request;
	struct session *session = NULL;
	bool made;

	if (ask->session_id != NULL) {
		/* One of a new name is made, but not for a tenant, which it would not belong to. */
		session = session_of(
		    call, ask->session_id, namespace_equal(ask->tenant, NULL) ? &made : NULL, e);
		session = session_for(ask->tenant, session, e);
		if (session == NULL)
			return -1;
	}
	return run_begin(call, ask, session, false, e);
}

/* Uses the caller's default session, whose workspace snapshots are taken of. */
static int
begin_in_session(struct call *call, struct execute_code *ask, const char *session_id, struct err *e)
{
	bool fresh;
	struct session *session = session_of(call, session_id, &fresh, e);

	return session != NULL ? run_begin(call, ask, session, fresh && session_id == NULL, e) : -1;
}

int
run_tools_on_run_sandbox_code(struct call *call, void *request, struct err *e)
{
	static char strict[] = "strict", python[] = "python";
	struct run_sandbox_code *ask = request;
	struct execute_code all = { .code = ask->code,
		.timeout = ask->timeout_sec,
		.fresh = ask->fresh,
		.fence = ask->fence,
		.profile = strict,
		.language = python,
		.capture_output = true };
	int status = begin_in_session(call, &all, NULL, e);

	ask->code = all.code; /* unless it was taken */
	return status;
}

int
run_tools_on_sandbox_run_python(struct call *call, void *request, struct err *e)
{
	static char python[] = "python";
	struct sandbox_run_python *ask = request;
	struct execute_code all = { .code = ask->code,
		.timeout = ask->timeout_s,
		.usual_timeout = ask->usual_timeout,
		.usual_bytes = ask->usual_bytes,
		.fresh = ask->fresh,
		.language = python,
		.capture_output = true };

	if (session_usual(call, ask->session_id, ask->usual_sessions, e) < 0)
		return -1;

	int status = begin_in_session(call, &all, ask->session_id, e);

	ask->code = all.code;
	return status;
}
