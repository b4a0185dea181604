/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.c - from fields of a reply to URIs; knows no tool by name.
 *
 * A call that is no READ_ONLY one changes the session and the snapshot that its reply names: of
 * that session's files those that the reply lists or names, or, where it says nothing of files,
 * any.  Lists change with replies that are a session's or a snapshot's beginning or end.
 */
#include "gateway/mcp/resource/change.h"

#include "gateway/mcp/resource/listen.h"
#include "gateway/mcp/resource/uri.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

static const void *
field(enum msg_id id, const void *msg, const char *name, enum kind kind)
{
	const struct message *m = &messages[id];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (f->kind == kind && strcmp(f->name, name) == 0)
			return (const char *)msg + f->offset;
	return NULL;
}

static const char *
text(enum msg_id id, const void *msg, const char *name)
{
	const void *slot = field(id, msg, name, KIND_TEXT);

	return slot == NULL ? NULL : *(char *const *)slot;
}

static void
tell(const struct account *who, const char *before, const char *id)
{
	char uri[256];

	if (id == NULL)
		return;
	snprintf(uri, sizeof uri, "%s%.128s", before, id);
	listen_updated(who, uri, false);
}

static void
tell_files(const struct account *who, enum msg_id id, const void *reply, const char *session)
{
	const struct list *list = field(id, reply, "artifacts", KIND_LIST);
	const char *path = text(id, reply, "path");
	char all[256];

	for (size_t i = 0; list != NULL && i < list->count; i++) {
		const struct artifact *file = (const struct artifact *)list->items + i;
		auto_free char *uri = uri_of_file(session, file->filename);

		if (uri != NULL)
			listen_updated(who, uri, false);
	}
	if (path != NULL) {
		auto_free char *uri = uri_of_file(session, path);

		if (uri != NULL)
			listen_updated(who, uri, false);
	}
	if (list != NULL || path != NULL)
		return;
	snprintf(all, sizeof all, URI_FILES "%.128s", session);
	listen_updated(who, all, true);
}

static bool
changes_lists(enum msg_id reply)
{
	static const enum msg_id rows[] = { MSG_session_created, MSG_session_status, MSG_snapshot,
		MSG_snapshot_gone };

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i] == reply)
			return true;
	return false;
}

void
change_of_reply(const struct account *who, enum msg_id tool, const void *reply, bool named)
{
	enum msg_id id = messages[tool].reply;
	const char *session = text(id, reply, "session_id");

	if ((messages[tool].hints & READ_ONLY) != 0)
		return;
	tell(who, URI_SESSIONS, session);
	tell(who, URI_SNAPSHOTS, text(id, reply, "snapshot_id"));
	tell(who, URI_AUDIT, text(id, reply, "execution_id"));
	if (session != NULL)
		tell_files(who, id, reply, session);
	/* One's default session may have been made for it. */
	if (changes_lists(id) || (session != NULL && !named))
		listen_changed(who, LISTEN_RESOURCES);
}

void
change_of_call(const struct account *who, enum msg_id tool)
{
	if ((messages[tool].hints & READ_ONLY) != 0)
		return;
	listen_updated(who, URI_LOGS, false);
	listen_updated(who, URI_STATUS, false);
}
