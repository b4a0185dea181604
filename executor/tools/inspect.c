/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect.c - reports variables and environment of a session without running code in it.
 *
 * The names are claims of its programs at the end of their last statements.  The environment is the
 * one that this server gives to each program, and holds no secrets; of these the vault tells the
 * names.
 */
#include "executor/tools/inspect.h"

#include "executor/builder/launch/environment.h"
#include "executor/options.h"
#include "executor/run/limits.h"
#include "executor/runtime.h"
#include "executor/tools/session_tools.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VAULT_MS = 15000 };

/* Variables of languages other than the session's have the language as a prefix. */
static int
add_variables(struct state *reply, const struct session *session, struct err *e)
{
	for (unsigned i = 0; session->sandbox != NULL && i < runtime_count(); i++) {
		const struct texts *names = sandbox_variables(session->sandbox, i);

		for (size_t n = 0; n < names->count; n++) {
			auto_free char *name = NULL;
			bool plain = i == session->language;
			int size = asprintf(&name, "%s%s%s", plain ? "" : runtime_at(i)->name,
			    plain ? "" : ".", names->items[n]);

			if (size < 0 || texts_add(&reply->variables, name) < 0)
				return err_sys(e, "variables");
		}
	}
	return 0;
}

static int
fill(struct state *reply, const struct call *call, const struct session *session,
    const char *namespace, struct err *e)
{
	const struct limits *limits = session != NULL ? &session->limits : &limits_default;

	if (session != NULL) {
		reply->session_id = strdup(session->id);
		if (add_variables(reply, session, e) < 0)
			return -1;
	}
	for (const char *const *pair = environment_make(limits->box.cpu_milli, NULL, NULL);
	     *pair != NULL; pair++)
		if (texts_add(&reply->environment, *pair) < 0)
			return err_sys(e, "environment");
	return session_tools_report(call, namespace, &reply->sessions, e);
}

static void
finish(struct call *call, struct state *reply, const struct vault_names *names)
{
	struct err e;

	for (size_t i = 0; names != NULL && i < names->secrets.count; i++)
		if (texts_add(&reply->secrets, names->secrets.items[i].name) < 0) {
			err_sys(&e, "secrets");
			call_fail(call, &e);
			return;
		}
	call_reply(call, reply);
}

/* A caller without a name has no secrets. */
static void
listed(void *self, void *names, const struct err *e)
{
	struct call *call = self;
	struct state *reply = call->self;

	if (names != NULL || e->code == ERR_unauthenticated)
		finish(call, reply, names);
	else
		call_fail(call, e);
	message_clear(MSG_state, reply);
	free(reply);
}

static int
ask_names(struct call *call, const char *namespace, struct err *e)
{
	static char fallback[] = "default";
	struct vault_list request = {
		.namespace = namespace != NULL ? (char *)(uintptr_t) namespace : fallback,
	};

	return bus_ask(
		   &(struct ask){
		       .to = PEER_vault,
		       .message = MSG_vault_list,
		       .request = &request,
		       .owner = &call->owner,
		       .timeout_ms = VAULT_MS,
		       .self = call,
		       .done = listed,
		   },
		   e) != 0
	           ? 0
	           : -1;
}

int
inspect_on_inspect_state(struct call *call, void *request, struct err *e)
{
	const struct inspect_state *ask = request;
	struct session *session = session_of(call, ask->session_id, NULL, e);
	struct state *reply;

	/* A caller without a default session gets the parts that need none. */
	if (session == NULL && ask->session_id != NULL)
		return -1;
	if ((reply = calloc(1, sizeof *reply)) == NULL)
		return err_sys(e, "state");
	call->self = reply;
	if (fill(reply, call, session, ask->namespace, e) == 0 &&
	    ask_names(call, ask->namespace, e) == 0)
		return 0;
	message_clear(MSG_state, reply);
	free(reply);
	return -1;
}
