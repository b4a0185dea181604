/* SPDX-License-Identifier: Apache-2.0 */
/* run_record.c - the audit records of a run; what a program chose is not in them. */
#include "executor/run/run_inner.h"

#include "executor/run/outcome/outcome.h"
#include "executor/runtime.h"

#include <stdio.h>

struct event_owner
run_owner(const struct run *run)
{
	return (struct event_owner){ &run->call->owner, run->plan.namespace };
}

struct audit_event
run_event(struct run *run, enum event what)
{
	return (struct audit_event){
		.event = (int)what,
		.execution_id = run->id,
		.session_id = run->use.session != NULL ? run->use.session->id : NULL,
		.language = (char *)(uintptr_t)runtime_name(run->plan.language, run->plan.typed),
		.sha256 = run->plan.digest,
		.size = run->plan.code.size,
	};
}

enum event
run_event_of_end(const struct run *run, const struct err *e)
{
	if (e == NULL)
		return outcome_event(&run->reply);
	return run->over.code != ERR_none ? event_execution_cancelled : event_execution_failed;
}

void
run_record_end(struct run *run, const struct err *e)
{
	const struct execution *reply = &run->reply;
	struct event_owner owner = run_owner(run);
	struct audit_event event = run_event(run, run_event_of_end(run, e));
	char detail[128];

	snprintf(detail, sizeof detail, "stdout %zu, stderr %zu, artifacts %zu", reply->stdout.size,
	    reply->stderr.size, reply->artifacts.count);
	event.wall_ms = reply->execution_time * 1000;
	event.detail = detail;
	if (e != NULL)
		event.code = (char *)(uintptr_t)err_name(e->code);
	else if (reply->error != NULL)
		event.code = reply->error->code;
	event_note(&owner, event);
	if (e == NULL && outcome_exceeded(reply)) {
		event.event = event_resource_exceeded;
		event_note(&owner, event);
	}
}

struct known *
run_known(struct run *run)
{
	return run->use.session != NULL ? &run->use.session->known : &run->own_known;
}
