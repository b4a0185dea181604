/* SPDX-License-Identifier: Apache-2.0 */
/* session_lookup.c - the session that a call names, or its caller's default; ids and names come
 * from a model. */
#include "executor/session/session.h"

#include "executor/options.h"
#include "executor/run/own_limits.h"

#include "common/table/settings.h"

#include <inttypes.h>
#include <string.h>

static struct session *
first(void)
{
	return (struct session *)(uintptr_t)session_first();
}

bool
session_is_of(const struct session *session, const struct call *call)
{
	return owner_equal(&session->owner, &call->owner);
}

static struct session *
find_named(const struct call *call, const char *name, struct err *e)
{
	for (struct session *s = first(); s != NULL; s = s->next)
		if (s->name != NULL && strcmp(s->name, name) == 0 && session_is_of(s, call))
			return s;
	if (session_id_check_name(name, e) == 0)
		err_set(e, ERR_not_found, "session_id: you have no session %s", name);
	return NULL;
}

struct session *
session_find(const struct call *call, const char *id, struct err *e)
{
	if (session_id_name(id) != NULL)
		return find_named(call, session_id_name(id), e);

	struct session *session = first();

	while (session != NULL && strcmp(session->id, id) != 0)
		session = session->next;
	if (session != NULL && session_is_of(session, call))
		return session;
	if (!session_id_formed(id))
		err_set(e, ERR_invalid_argument,
		    "session_id: \"%.64s\" is not an id returned by create_session", id);
	else if (session == NULL && session_id_given(&call->owner, id))
		err_set(e, ERR_session_expired,
		    "session_id: %.64s has ended: it was closed, it expired, or the "
		    "server restarted",
		    id);
	else
		err_set(e, ERR_not_found, "session_id: you have no session %.64s", id);
	return NULL;
}

struct session *
session_for(const char *tenant, struct session *session, struct err *e)
{
	if (session == NULL || tenant == NULL || namespace_equal(tenant, session->namespace))
		return session;
	err_set(e, ERR_not_found, "session_id: you have no session %.64s in namespace %.64s",
	    session->id, tenant);
	return NULL;
}

struct session *
session_main(const struct call *call, bool *made, struct err *e)
{
	const struct session_wish wish = {
		.ttl_s = options.session_ttl, .limits = *own_limits_of(&call->owner), .main = true
	};

	if (made != NULL)
		*made = false;
	for (struct session *s = first(); s != NULL; s = s->next)
		if (s->main && session_is_of(s, call))
			return s;
	if (made == NULL) {
		err_set(e, ERR_not_found,
		    "session_id: you have no default session; upload a file or run code "
		    "first");
		return NULL;
	}
	*made = true;
	return session_new(call, &wish, e);
}

struct session *
session_of(const struct call *call, const char *id, bool *made, struct err *e)
{
	if (id == NULL)
		return session_main(call, made, e);

	struct session *session = session_find(call, id, e);

	if (made == NULL)
		return session;
	*made = session == NULL && session_id_name(id) != NULL && e->code == ERR_not_found;
	if (!*made)
		return session;

	const struct session_wish wish = { .ttl_s = options.session_ttl,
		.limits = *own_limits_of(&call->owner),
		.name = session_id_name(id) };

	return session_new(call, &wish, e);
}

int
session_usual(const struct call *call, const char *id, uint64_t most, struct err *e)
{
	uint64_t mine = 0;
	struct err none;

	if (most == 0 || options.session_evict || settings_given("max_sessions") ||
	    settings_given("max_sessions_each") ||
	    (id != NULL && session_find(call, id, &none) != NULL))
		return 0;
	for (const struct session *s = first(); s != NULL; s = s->next)
		mine += session_is_of(s, call);
	if (mine < most)
		return 0;
	return err_set(e, ERR_session_limit,
	    "you have %" PRIu64 " sessions, the limit is %" PRIu64
	    "; close one, or set max_sessions",
	    mine, most);
}
