/* SPDX-License-Identifier: Apache-2.0 */
/* change.c - one row per subject, with its URIs. */
#include "gateway/mcp/resource/change.h"

#include "gateway/mcp/resource/listen.h"
#include "gateway/mcp/resource/uri.h"
#include "gateway/task/task.h"

#include "common/base/auto.h"

#include <stdio.h>

static void
tell_task(const struct account *who, const struct changed *c)
{
	if (listen_hears_task(who, c->id))
		task_look(who, c->id, listen_task);
}

static void
tell(const struct account *who, const char *before, const char *id, bool below)
{
	char uri[256];

	snprintf(uri, sizeof uri, "%s%.128s", before, id);
	listen_updated(who, uri, below);
}

static void
tell_session(const struct account *who, const struct changed *c)
{
	tell(who, URI_SESSIONS, c->id, false);
	listen_updated(who, URI_STATUS, false);
}

static void
tell_snapshot(const struct account *who, const struct changed *c)
{
	tell(who, URI_SNAPSHOTS, c->id, false);
	listen_updated(who, URI_LOGS, false);
}

static void
tell_execution(const struct account *who, const struct changed *c)
{
	tell(who, URI_AUDIT, c->id, false);
	listen_updated(who, URI_LOGS, false);
	listen_updated(who, URI_STATUS, false);
}

static void
tell_file(const struct account *who, const struct changed *c)
{
	auto_free char *uri = c->path == NULL ? NULL : uri_of_file(c->id, c->path);

	if (uri != NULL)
		listen_updated(who, uri, false);
}

static void
tell_files(const struct account *who, const struct changed *c)
{
	tell(who, URI_FILES, c->id, true);
}

static void
tell_list(const struct account *who, const struct changed *unused)
{
	(void)unused;
	listen_changed(who, PROVIDER_resources);
	listen_updated(who, URI_LOGS, false);
}

void
change_tell(const struct changed *c)
{
	static void (*const rows[subject_COUNT])(const struct account *, const struct changed *) = {
		[subject_task] = tell_task,
		[subject_session] = tell_session,
		[subject_snapshot] = tell_snapshot,
		[subject_execution] = tell_execution,
		[subject_file] = tell_file,
		[subject_files] = tell_files,
		[subject_list] = tell_list,
	};
	struct account who = { 0 };

	must(owner_set(&who.owner, c->principal, c->namespace));
	if (c->id != NULL || c->what == subject_list)
		rows[c->what](&who, c);
}
