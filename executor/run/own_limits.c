/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_limits.c - default limits set by principals, kept while this process runs.
 *
 * The table is bounded: the least recently used entry is replaced.
 */
#include "executor/run/own_limits.h"

#include "executor/options.h"
#include "executor/session/session.h"

#include "common/base/auto.h"

#include <string.h>

enum {
	MAX_PRINCIPALS = 1024,
};

/* The last used is first. */
static struct own {
	struct own *next;
	struct owner owner;
	struct limits limits;
} * all;

static struct own *
find(const struct call *call)
{
	const struct owner asker = call_owner(call);

	for (struct own **at = &all, *own; (own = *at) != NULL; at = &own->next) {
		if (!owner_equal(&own->owner, &asker))
			continue;
		*at = own->next;
		own->next = all;
		return all = own;
	}
	return NULL;
}

static void
drop_from(struct own **at)
{
	while (*at != NULL) {
		struct own *own = *at;

		*at = own->next;
		owner_clear(&own->owner);
		free(own);
	}
}

static int
keep(const struct call *call, const struct limits *limits, struct err *e)
{
	const struct owner asker = call_owner(call);
	struct own *own = find(call), **at = &all;

	if (own == NULL && (own = calloc(1, sizeof *own)) != NULL) {
		own->owner = owner_copy(&asker);
		own->next = all;
		all = own;
	}
	if (own == NULL)
		return err_sys(e, "limits");
	own->limits = *limits;
	for (size_t n = 0; *at != NULL && n < MAX_PRINCIPALS; n++)
		at = &(*at)->next;
	drop_from(at);
	return 0;
}

const struct limits *
own_limits_of(const struct call *call)
{
	const struct own *own = find(call);

	return own != NULL ? &own->limits : &options.limits;
}

void
own_limits_forget(void)
{
	drop_from(&all);
}

/* Its box and its workspace are made once. */
static int
set_in_session(struct session *session, const struct resource_limits *asked, struct limits *limits,
    struct err *e)
{
	struct limits same;

	*limits = session->limits;
	if (limits_ask(limits, "resource_limits.", asked, e) < 0)
		return -1;
	same = *limits;
	same.box.wall_ms = session->limits.box.wall_ms;
	same.box.cpu_ms = session->limits.box.cpu_ms;
	same.box.output_bytes = session->limits.box.output_bytes;
	if (memcmp(&same, &session->limits, sizeof same) != 0)
		return err_set(e, ERR_invalid_argument,
		    "resource_limits: of a session only timeout_seconds, max_cpu_seconds and "
		    "max_output_bytes change; the others are fixed by create_session");
	session->limits = *limits;
	return 0;
}

int
own_limits_on_set_resource_limits(struct call *call, void *request, struct err *e)
{
	const struct set_resource_limits *ask = request;
	struct session *session = NULL;
	struct limits limits = *own_limits_of(call);
	struct resource_limits reply;
	int status;

	if (call->principal[0] == 0)
		return err_set(e, ERR_unauthenticated, "limits need a principal");
	if (ask->session_id != NULL && (session = session_find(call, ask->session_id, e)) == NULL)
		return -1;
	if (session != NULL)
		status = set_in_session(session, ask->resource_limits, &limits, e);
	else if ((status = limits_ask(&limits, "resource_limits.", ask->resource_limits, e)) == 0)
		status = keep(call, &limits, e);
	if (status < 0)
		return -1;
	limits_tell(&limits, &reply);
	call_reply(call, &reply);
	return 0;
}
