/* SPDX-License-Identifier: Apache-2.0 */
/* session_record.c - conversion of records; trusts record.h that texts are terminated. */
#include "executor/session/session_record.h"

#include "executor/environment.h"
#include "executor/runtime.h"
#include "executor/session/session_state.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <stdio.h>
#include <string.h>

/* false: a text does not fit.  It is not truncated, because it could then mean something else. */
static bool
write_texts(struct record *r, const struct session *session)
{
	return record_text(r->id, sizeof r->id, session->id) &&
	       record_text(r->namespace, sizeof r->namespace, session->namespace) &&
	       record_text(r->name, sizeof r->name, session->name) &&
	       record_text(r->profile, sizeof r->profile, session->profile) &&
	       record_text(r->domains, sizeof r->domains, session->domains) &&
	       record_text(r->environment, sizeof r->environment,
		   environment_at(session->limits.box.environment)->name) &&
	       record_text(r->language, sizeof r->language,
		   runtime_name(session->language, session->typed));
}

void
session_record_write(struct session *session, uint32_t workspace)
{
	struct record *r = session->record == NULL ? record_new() : NULL;

	if (r == NULL || !write_texts(r, session))
		return;
	r->owner = session->owner;
	r->limits = session->limits;
	r->ttl_ms = session->ttl_ms;
	r->expires_ms = session->uses != NULL ? 0 : session->expires_ms;
	r->main = session->main;
	r->workspace = workspace;
	record_commit(r);
	session->record = r;
}

static char *
copy(const char *text)
{
	char *made = strdup(text);

	must(made != NULL);
	return made;
}

static char *
copy_or_null(const char *text)
{
	return text[0] != 0 ? copy(text) : NULL;
}

struct session *
session_record_read(struct record *r, struct err *e)
{
#define LOST \
	"The interpreters of this session were lost when the executor restarted: variables, " \
	"imports and bridged data are lost, files are kept."
	static const char lost[] = LOST;
	static const char more[] = LOST " Its packages are lost, too: install them again.";
#undef LOST
	int language = runtime_find(r->language, e);
	struct limits limits = r->limits;

	/* Its number may be another one now. */
	if (language < 0 || environment_ask(r->environment, &limits.box.environment, e) < 0)
		return NULL;

	struct session *session = calloc(1, sizeof *session);

	must(session != NULL);
	*session = (struct session){
		.owner = r->owner,
		.namespace = copy_or_null(r->namespace),
		.name = copy_or_null(r->name),
		.profile = copy_or_null(r->profile),
		.domains = copy_or_null(r->domains),
		.parent = copy_or_null(r->parent),
		.language = (unsigned)language,
		.typed = runtime_is_typed(r->language),
		.limits = limits,
		.main = r->main,
		.ttl_ms = r->ttl_ms,
		.expires_ms = r->expires_ms,
		.news = r->packages ? more
		        : r->lived  ? lost
		                    : NULL,
		.record = r,
	};
	r->packages = false;
	snprintf(session->id, sizeof session->id, "%s", r->id);
	if (session->expires_ms == 0) /* the session was in use */
		session->expires_ms = loop_now_ms() + (int64_t)session->ttl_ms;
	return session;
}
