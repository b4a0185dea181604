/* SPDX-License-Identifier: Apache-2.0 */
/* run_borrow.c - what a run needs of other daemons before it takes a box: approvals of its domains,
 * and secrets.  Trusts approvald for what a person allowed, and the vault for the values. */
#include "executor/run/run_inner.h"

#include "executor/run/network/domains.h"
#include "executor/run/secrets.h"

/* Borrowed for a request. */
static char *
session_id(const struct run *run)
{
	return run->use.session != NULL ? (char *)(uintptr_t)run->use.session->id : NULL;
}

/* A snapshot of the session's files has the names, so that a session that restores it asks for the
 * values. */
static int
name_all(struct run *run, struct err *e)
{
	for (size_t i = 0; i < run->lent.values.count; i++)
		if (known_name(
			run_known(run), run->plan.namespace, run->lent.values.items[i].name, e) < 0)
			return -1;
	return 0;
}

static int
take(struct run *run, struct vault_values *reply, struct err *e)
{
	if (secrets_take(&run->plan.secrets, reply, &run->lent, &run->reply.notes, e) < 0)
		return -1;
	return known_add(run_known(run), &run->lent, e) < 0 ? -1 : name_all(run, e);
}

/* A run that names no secret can do without. */
static int
do_without(struct run *run, const struct err *why, struct err *e)
{
	if (run->plan.secrets.count == 0 && why->code != ERR_cancelled)
		return secrets_lack(why, &run->reply.notes, e);
	*e = *why;
	return -1;
}

static void
revealed(void *self, void *reply, const struct err *e)
{
	struct run *run = self;
	struct err why;
	int status;

	run->ask = 0;
	status = reply != NULL ? take(run, reply, &why) : do_without(run, e, &why);
	run->borrowed(run, status == 0 ? NULL : &why);
}

static void
lend(struct run *run)
{
	struct vault_reveal request = {
		.execution_id = run->id,
		.session_id = session_id(run),
		.namespace = run->plan.namespace,
		.names = run->plan.secrets,
		.all = run->plan.all_secrets,
	};
	struct err e;

	if (run->plan.secrets.count == 0 && !run->plan.all_secrets) {
		run->borrowed(run, NULL);
		return;
	}
	run->ask = secrets_ask(&run->call->owner, &request, revealed, run, &e);
	if (run->ask == 0)
		run->borrowed(run, &e);
}

static void
granted(void *self, void *reply, const struct err *e)
{
	struct run *run = self;
	struct err why;

	run->ask = 0;
	if (reply != NULL && domains_permit(&run->plan.domains, reply,
				 run->plan.lenient ? &run->reply.notes : NULL, &why) == 0)
		lend(run);
	else
		run->borrowed(run, reply != NULL ? &why : e);
}

void
run_borrow(struct run *run, void (*then)(struct run *, const struct err *))
{
	struct approval_grants request = {
		.namespace = run->plan.namespace,
		.session_id = session_id(run),
	};
	struct err e;

	run->borrowed = then;
	if (!domains_need_grants(&run->plan.domains)) {
		lend(run);
		return;
	}
	run->ask = network_ask_grants(&run->call->owner, &request, granted, run, &e);
	if (run->ask == 0)
		then(run, &e);
}
