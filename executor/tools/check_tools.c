/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_tools.c - validate_code for JavaScript, TypeScript and shell: waits for a place like a run,
 * because a check takes a box, then replies with the report.
 *
 * Python is the validator's; the gateway sends it there, but for a check by the rules of a run,
 * which only the executor knows.
 */
#include "executor/tools/check_tools.h"

#include "executor/options.h"
#include "executor/run/check/check.h"
#include "executor/run/check/policy.h"
#include "executor/run/limits.h"
#include "executor/run/pool.h"
#include "executor/run/queue.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <string.h>

struct wish {
	struct call *call;
	struct ticket ticket;
	struct validate_code ask;
	struct profile_set set;
	struct check *check; /* NULL: it waits for a place */
};

static void
free_wish(struct wish *wish)
{
	queue_leave(&wish->ticket);
	message_clear(MSG_validate_code, &wish->ask);
	free(wish);
	pool_refill();
}

static void
checked(void *self, void *report, const struct err *e)
{
	struct wish *wish = self;

	if (report != NULL)
		call_reply(wish->call, report);
	else
		call_fail(wish->call, e);
	free_wish(wish);
}

static void
place_found(void *self)
{
	struct wish *wish = self;
	struct err e;

	wish->check = check_begin(
	    &(struct check_ask){
		.language = (unsigned)wish->ask.language,
		.code = wish->ask.code,
		.set = &wish->set,
		.only = &wish->ask.allowed_imports,
		.auto_fix = wish->ask.auto_fix,
		.owner = { &wish->call->owner, NULL },
		.done = checked,
		.self = wish,
	    },
	    &e);
	if (wish->check == NULL)
		checked(wish, NULL, &e);
}

static void
cancelled(struct call *call, enum err_code code)
{
	struct wish *wish = call->self;
	struct err e;

	if (wish->check != NULL) {
		check_cancel(wish->check);
		return;
	}
	err_set(&e, code, "the caller no longer waits for it");
	checked(wish, NULL, &e);
}

static int
read_ask(const struct validate_code *ask, struct profile_set *set, struct err *e)
{
	if (ask->language == code_language_python)
		return err_set(e, ERR_invalid_argument, "language: the executor checks no Python");
	if (ask->code.size > options.max_code_bytes)
		return err_set(e, ERR_code_too_large,
		    "code: %zu bytes are over this server's limit of %" PRIu64, ask->code.size,
		    options.max_code_bytes);
	return profile_read(ask->profile != NULL ? ask->profile : "strict", set, e);
}

static void
judged(void *self, void *report, const struct err *e)
{
	if (report != NULL)
		call_reply(self, report);
	else
		call_fail(self, e);
}

static int
judge_as_run(struct call *call, struct validate_code *ask, struct err *e)
{
	struct execute_code run = { .named_profiles = true,
		.allowed_imports = ask->allowed_imports };
	struct policy_question question = { 0 };
	struct policy policy = { .owner = &call->owner };
	int status = policy_read(&policy, &run, (unsigned)ask->language, NULL, e);

	ask->allowed_imports = run.allowed_imports; /* unless they were taken */
	policy.owner = &call->owner;
	if (status == 0)
		status = policy_ask(&policy, &ask->code, &question, judged, call, e);
	policy_clear(&policy);
	return status;
}

int
check_tools_on_validate_code(struct call *call, void *request, struct err *e)
{
	struct validate_code *ask = request;
	struct profile_set set;

	if (call->owner.principal[0] == 0)
		return err_set(
		    e, ERR_unauthenticated, "only an authenticated caller can check code");
	if (ask->as_run && ask->language == code_language_python)
		return judge_as_run(call, ask, e);
	if (read_ask(ask, &set, e) < 0)
		return -1;

	struct wish *wish = calloc(1, sizeof *wish);

	if (wish == NULL)
		return err_sys(e, "check");
	*wish = (struct wish){ .call = call, .ask = *ask, .set = set };
	*ask = (struct validate_code){ 0 };
	wish->ticket = (struct ticket){
		.owner = &call->owner,
		.class = QUEUE_STATELESS,
		.bytes = wish->ask.code.size,
		.box_bytes = share_of_box(&limits_default),
		.start = place_found,
		.self = wish,
	};
	call->self = wish;
	call->on_cancel = cancelled;
	if (queue_enter(&wish->ticket, e) == 0)
		return 0;
	call->on_cancel = NULL;
	free_wish(wish);
	return -1;
}
