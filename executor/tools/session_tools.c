/* SPDX-License-Identifier: Apache-2.0 */
/* session_tools.c - the calls that make, end and show sessions; a caller sees its own only. */
#include "executor/tools/session_tools.h"

#include "executor/builder/containers.h"
#include "executor/environment.h"
#include "executor/options.h"
#include "executor/packages/install.h"
#include "executor/run/check/policy.h"
#include "executor/run/network/domains.h"
#include "executor/run/own_limits.h"
#include "executor/run/rights_limits.h"
#include "executor/runtime.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/timestamp.h"

#include <inttypes.h>
#include <string.h>

static char *
text_of(int64_t ms_from_now)
{
	struct timespec at = timestamp_now();
	char text[TIMESTAMP_TEXT];

	at.tv_sec += (time_t)(ms_from_now / 1000);
	timestamp_text(at, 0, text);
	return strdup(text);
}

static int64_t
left_ms(const struct session *session)
{
	return session->uses != NULL ? (int64_t)session->ttl_ms
	                             : session->expires_ms - loop_now_ms();
}

static char *
expires_at(const struct session *session)
{
	return text_of(left_ms(session));
}

static char *
used_at(const struct session *session)
{
	return text_of(left_ms(session) - (int64_t)session->ttl_ms);
}

static bool
is_busy(const struct session *session)
{
	for (const struct session_use *use = session->uses; use != NULL; use = use->next)
		if (use->way == SESSION_RUN || use->way == SESSION_HOLD)
			return true;
	return false;
}

int
session_tools_report(const struct call *call, const char *namespace, void *list, struct err *e)
{
	for (const struct session *s = session_first(); s != NULL; s = s->next) {
		bool wanted = namespace == NULL || namespace_equal(s->namespace, namespace);

		if (!wanted || !session_is_of(s, call))
			continue;

		struct session_info *info = list_add(list, sizeof *info);

		if (info == NULL)
			return err_sys(e, "sessions");
		*info = (struct session_info){
			.session_id = strdup(s->id),
			.language = strdup(runtime_name(s->language, s->typed)),
			.busy = is_busy(s),
			.expires_at = expires_at(s),
			.used_at = used_at(s),
			.namespace = s->namespace != NULL ? strdup(s->namespace) : NULL,
		};
	}
	return 0;
}

/* ---- create_session ---- */

struct opening {
	struct call *call;
	bool limits; /* wanted in the reply */
	struct session_use use;
	struct texts packages;   /* that it gets */
	struct install *install; /* of them, while that goes on */
	struct package_set *set;
	struct err over; /* why it was stopped */
};

static void
fill(const struct opening *opening, struct session_created *reply)
{
	const struct session *session = opening->use.session;

	reply->language = strdup(runtime_name(session->language, session->typed));
	reply->session_id = strdup(session->id);
	reply->expires_at = expires_at(session);
	if (session->limits.box.environment != 0)
		reply->environment = strdup(environment_at(session->limits.box.environment)->name);
	if (!opening->limits)
		return;
	reply->resource_limits = calloc(1, sizeof *reply->resource_limits);
	must(reply->resource_limits != NULL);
	limits_tell(&session->limits, reply->resource_limits);
}

/* A session without its packages is ended. */
static void
answer(struct opening *opening, const struct err *e)
{
	struct session *session = opening->use.session;
	struct session_created reply = { 0 };
	bool whole = e == NULL || e->code == ERR_none;

	if (whole)
		fill(opening, &reply);
	opening->call->on_cancel = NULL;
	session->installing = false;
	package_set_put(opening->set);
	if (!whole && opening->packages.count > 0 && !session->ended)
		session_end(session, event_session_killed, "its packages were not installed");
	session_leave(&opening->use);
	if (whole)
		call_reply(opening->call, &reply);
	else
		call_fail(opening->call, e);
	message_clear(MSG_session_created, &reply);
	texts_clear(&opening->packages);
	free(opening);
}

static void
shown(void *self, const struct err *e)
{
	answer(self, e);
}

static void
installed(void *self, struct package_set *set, struct packages_installed *list, const struct err *e)
{
	struct opening *opening = self;
	struct err why = opening->over.code != ERR_none || e == NULL ? opening->over : *e;

	(void)list;
	opening->install = NULL;
	opening->set = set;
	if (why.code != ERR_none || session_show(&opening->use, set, shown, opening, &why) < 0)
		answer(opening, &why);
}

static void
give_up(struct opening *opening, enum err_code code, const char *why)
{
	if (opening->over.code == ERR_none)
		err_set(&opening->over, code, "%s", why);
	if (opening->install != NULL)
		install_cancel(opening->install);
}

static void
opening_cancelled(struct call *call, enum err_code why)
{
	give_up(call->self, why, "the caller no longer waits for it");
}

static void
opening_ended(void *self)
{
	give_up(self, ERR_cancelled, "the session was ended");
}

static void
opened(void *self, struct workspace *workspace, const struct err *e)
{
	struct opening *opening = self;
	struct session *session = opening->use.session;
	const struct install_ask ask = {
		.language = session->language == language_node ? language_node : language_python,
		.packages = &opening->packages,
		.environment = session->limits.box.environment,
		.owner = session_owner(session),
		.session_id = session->id,
		.done = installed,
		.self = opening,
	};
	struct err why;

	if (workspace == NULL || opening->packages.count == 0) {
		answer(opening, workspace == NULL ? e : NULL);
		return;
	}
	session->installing = true;
	opening->call->self = opening;
	opening->call->on_cancel = opening_cancelled;
	opening->install = install_begin(&ask, &why);
	if (opening->install == NULL)
		answer(opening, &why);
}

static int
read_wish(const struct call *call, const struct create_session *ask, struct session_wish *wish,
    struct err *e)
{
	const struct rights *rights = rights_of(&call->owner);

	*wish = (struct session_wish){
		.namespace = ask->namespace,
		.profile = ask->profile,
		.language = language_python,
		.ttl_s = ask->ttl != 0 ? ask->ttl : options.session_ttl,
		.limits = *own_limits_of(&call->owner),
	};
	if (wish->ttl_s > options.max_session_ttl)
		return err_set(e, ERR_limit_exceeded,
		    "ttl: %" PRIu64 " s is over this server's limit of %" PRIu64 " s", wish->ttl_s,
		    options.max_session_ttl);
	int language = ask->language != NULL ? runtime_find(ask->language, e) : language_python;

	if (language < 0)
		return -1;
	wish->language = (unsigned)language;
	wish->typed = runtime_is_typed(ask->language);
	if (rights != NULL && (rights_check(rights, &rights->languages, "language",
				   runtime_name(wish->language, wish->typed), e) < 0 ||
				  rights_check(rights, &rights->environments, "environment",
				      ask->environment, e) < 0))
		return -1;
	if (ask->profile != NULL && policy_check_profile(ask->profile, wish->language, e) < 0)
		return -1;
	if (environment_ask(ask->environment, &wish->limits.box.environment, e) < 0)
		return -1;
	if (wish->limits.box.container != CONTAINER_none &&
	    environment_needs_host(wish->limits.box.environment, "environment", e) < 0)
		return -1;
	if (limits_ask(&wish->limits, "resource_limits.", ask->resource_limits, e) < 0 ||
	    rights_limits(&wish->limits, own_limits_of(&call->owner), true, rights, e) < 0)
		return -1;
	limits_usual(&wish->limits, ask->usual_timeout, 0);
	return 0;
}

int
session_tools_on_create_session(struct call *call, void *request, struct err *e)
{
	struct opening *opening = calloc(1, sizeof *opening);
	struct session_wish wish;
	struct session *session = NULL;
	auto_free char *domains = NULL;

	if (opening == NULL)
		return err_sys(e, "session");
	if (read_wish(call, request, &wish, e) == 0 &&
	    domains_of_session(request, &domains, e) == 0) {
		wish.domains = domains;
		session = session_new(call, &wish, e);
	}
	if (session == NULL) {
		free(opening);
		return -1;
	}
	*opening = (struct opening){
		.call = call,
		.limits = ((struct create_session *)request)->limits,
		.use = { .ready = opened, .stop = opening_ended, .self = opening },
		.packages = ((struct create_session *)request)->packages,
	};
	((struct create_session *)request)->packages = (struct texts){ 0 };
	must(session_enter(session, SESSION_READ, &opening->use, e) == 0);
	session_wait(&opening->use);
	return 0;
}

/* ---- terminate_session, sandbox_close_session ---- */

struct ending {
	struct call *call;
	struct session_status reply;
};

static void
ended(void *self)
{
	struct ending *ending = self;

	call_reply(ending->call, &ending->reply);
	message_clear(MSG_session_status, &ending->reply);
	free(ending);
}

static struct ending *
new_ending(struct call *call, const char *status, const char *id, struct err *e)
{
	struct ending *ending = calloc(1, sizeof *ending);

	if (ending == NULL) {
		err_sys(e, "session");
		return NULL;
	}
	ending->call = call;
	ending->reply.status = strdup(status);
	ending->reply.session_id = strdup(id);
	return ending;
}

/* A session that has already ended satisfies the caller's request. */
static int
end_for(struct call *call, const char *id, const char *tenant, const char *status, struct err *e)
{
	struct session *session = session_for(tenant, session_of(call, id, NULL, e), e);

	if (session == NULL && (id == NULL || e->code != ERR_session_expired))
		return -1;

	struct ending *ending = new_ending(call, status, session != NULL ? session->id : id, e);

	if (ending == NULL)
		return -1;
	if (session == NULL) {
		ended(ending);
		return 0;
	}
	session->gone = ended;
	session->waiter = ending;
	session_end(session, event_session_killed, status);
	return 0;
}

int
session_tools_on_terminate_session(struct call *call, void *request, struct err *e)
{
	const struct terminate_session *ask = request;

	return end_for(call, ask->session_id, ask->tenant, "terminated", e);
}

int
session_tools_on_sandbox_close_session(struct call *call, void *request, struct err *e)
{
	const struct sandbox_close_session *ask = request;

	return end_for(call, ask->session_id, NULL, "closed", e);
}

/* ---- bridge_data ---- */

/* A key must be a valid name in each of the languages. */
static int
check_key(const char *key, struct err *e)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	if (strspn(key, letters) > 0 && key[strspn(key, all)] == 0)
		return 0;
	return err_set(e, ERR_invalid_argument,
	    "key: \"%.64s\" is not a valid name; use letters, digits and _, and begin with a "
	    "letter or _",
	    key);
}

/* Gives the value to the running programs of the session, and stores it for later ones. */
static int
hand_over(struct session *session, const char *key, struct blob *data, struct err *e)
{
	struct blob copy = blob_copy(data->data, data->size);
	int status = -1;

	if (copy.data == NULL)
		err_sys(e, "data");
	else if (bridge_put(&session->bridges, key, data, e) == 0)
		status =
		    session->sandbox != NULL ? sandbox_bridge(session->sandbox, key, &copy, e) : 0;
	blob_clear(&copy);
	return status;
}

static int
check_keys(const struct bridge_data *ask, struct err *e)
{
	int status = check_key(ask->key, e);

	for (size_t i = 0; status == 0 && i < ask->more.count; i++)
		status = check_key(ask->more.items[i].key, e);
	return status;
}

static int
hand_over_all(struct session *session, struct bridge_data *ask, struct err *e)
{
	int status = hand_over(session, ask->key, &ask->data, e);

	for (size_t i = 0; status == 0 && i < ask->more.count; i++)
		status = hand_over(session, ask->more.items[i].key, &ask->more.items[i].data, e);
	return status;
}

int
session_tools_on_bridge_data(struct call *call, void *request, struct err *e)
{
	struct bridge_data *ask = request;
	struct session *session = session_find(call, ask->session_id, e);
	struct session_use use = { 0 };
	struct bridged reply = { 0 };
	int status;

	if (session == NULL || check_keys(ask, e) < 0 ||
	    session_enter(session, SESSION_READ, &use, e) < 0)
		return -1;
	status = hand_over_all(session, ask, e);
	if (status == 0)
		reply =
		    (struct bridged){ strdup("bridged"), strdup(session->id), strdup(ask->key) };
	session_leave(&use);
	if (status == 0)
		call_reply(call, &reply);
	message_clear(MSG_bridged, &reply);
	return status;
}
