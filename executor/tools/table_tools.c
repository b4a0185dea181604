/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_tools.c - validate_csv_data for a file of a session: waits for the session's workspace and
 * for a place like a run, because a check takes a box, then replies with the report.
 *
 * The gateway sends tables of up to 10 MB to the validator.
 */
#include "executor/tools/table_tools.h"

#include "executor/files/path.h"
#include "executor/run/check/table.h"
#include "executor/run/pool.h"
#include "executor/run/queue.h"
#include "executor/runtime.h"
#include "executor/session/session.h"

#include "common/base/auto.h"

#include <string.h>

struct wish {
	struct call *call;
	struct session_use use;
	struct ticket ticket;
	struct validate_csv_data ask;
	char *path; /* real bytes */
	struct workspace *workspace;
	struct limits limits;
	struct table table;
	bool begun; /* the check; else it waits */
};

/* Leaves the session before the reply, because the caller may close the session next. */
static void
finish(void *self, void *report, const struct err *e)
{
	struct wish *wish = self;

	queue_leave(&wish->ticket);
	session_leave(&wish->use);
	if (report != NULL)
		call_reply(wish->call, report);
	else
		call_fail(wish->call, e);
	message_clear(MSG_validate_csv_data, &wish->ask);
	free(wish->path);
	free(wish);
	pool_refill();
}

static void
give_up(struct wish *wish, enum err_code code, const char *why)
{
	struct err e;

	if (wish->begun) {
		table_cancel(&wish->table, code, why);
		return;
	}
	err_set(&e, code, "%s", why);
	finish(wish, NULL, &e);
}

static void
cancelled(struct call *call, enum err_code code)
{
	give_up(call->self, code, "the caller no longer waits for it");
}

static void
session_ends(void *self)
{
	give_up(self, ERR_session_expired, "session_id: the session ended during the check");
}

static void
place_found(void *self)
{
	struct wish *wish = self;

	wish->begun = true;
	table_begin(&wish->table, &(struct table_ask){
				      .workspace = wish->workspace,
				      .limits = &wish->limits,
				      .path = wish->path,
				      .request = &wish->ask,
				      .known = &wish->use.session->known,
				      .done = finish,
				      .self = wish,
				  });
}

static void
workspace_ready(void *self, struct workspace *workspace, const struct err *e)
{
	struct wish *wish = self;
	struct err why;

	wish->workspace = workspace;
	if (workspace == NULL) {
		finish(wish, NULL, e);
		return;
	}
	wish->limits = table_limits(&wish->use.session->limits.room);
	wish->ticket = (struct ticket){
		.owner = &wish->call->owner,
		.class = QUEUE_SESSION,
		.bytes = wish->ask.type_constraints.size,
		.box_bytes = share_of_box(&wish->limits),
		.start = place_found,
		.self = wish,
	};
	if (queue_enter(&wish->ticket, &why) < 0)
		finish(wish, NULL, &why);
}

static int
check_ask(const struct validate_csv_data *ask, struct err *e)
{
	if (ask->path == NULL || ask->csv_content.data != NULL || ask->csv_base64.data != NULL)
		return err_set(
		    e, ERR_invalid_argument, "give csv_content, csv_base64 or the path of a file");
	if (!runtime_at(language_shell)->present)
		return err_set(e, ERR_runtime_missing,
		    "path: a check of a file over 10 MB needs bash, which is not installed on this "
		    "server");
	return 0;
}

/* Takes what the checker needs not know out of the request. */
static struct wish *
make_wish(struct call *call, struct validate_csv_data *ask, struct err *e)
{
	auto_free char *encoded = path_check("path", ask->path, e);
	auto_free char *path = encoded != NULL ? path_decode("path", encoded, e) : NULL;
	struct wish *wish = path != NULL ? calloc(1, sizeof *wish) : NULL;

	if (wish == NULL)
		return NULL;
	wish->call = call;
	wish->use =
	    (struct session_use){ .ready = workspace_ready, .stop = session_ends, .self = wish };
	wish->path = take_ptr(path);
	free(take_ptr(ask->path));
	free(take_ptr(ask->session_id));
	wish->ask = *ask;
	*ask = (struct validate_csv_data){ 0 };
	return wish;
}

int
table_tools_on_validate_csv_data(struct call *call, void *request, struct err *e)
{
	struct validate_csv_data *ask = request;
	struct session *session =
	    check_ask(ask, e) == 0 ? session_of(call, ask->session_id, NULL, e) : NULL;
	struct wish *wish = session != NULL ? make_wish(call, ask, e) : NULL;

	if (wish == NULL)
		return -1;
	if (session_enter(session, SESSION_READ, &wish->use, e) < 0) {
		message_clear(MSG_validate_csv_data, &wish->ask);
		free(wish->path);
		free(wish);
		return -1;
	}
	call->self = wish;
	call->on_cancel = cancelled;
	session_wait(&wish->use);
	return 0;
}
