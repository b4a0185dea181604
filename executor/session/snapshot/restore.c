/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore.c - restore_state_snapshot: fills a new workspace from the store, then replaces the old
 * one atomically.
 *
 * The old workspace is not touched before that, so any failure or killed process leaves it as it
 * was.
 */
#include "executor/run/secrets.h"
#include "executor/sandbox/workspace.h"
#include "executor/session/artifact.h"
#include "executor/session/snapshot/job.h"
#include "executor/session/snapshot/snapshot.h"

#include "common/base/auto.h"

#include <string.h>

enum {
	MAX_ENTRIES = 100000, /* of schema.def */
	MAX_NAMES = 100,      /* of schema.def */
};

struct restore {
	struct snapshot_job job;
	char *snapshot_id;
	struct files_tree old;
	struct snapshot_manifest manifest;
	struct share share; /* of the new workspace; for some time both exist */
	struct workspace *fresh;
	bool filling;
};

static void
clear(struct snapshot_job *job)
{
	struct restore *r = (struct restore *)job;

	free(r->snapshot_id);
	files_tree_clear(&r->old);
	message_clear(MSG_snapshot_manifest, &r->manifest);
	workspace_drop(r->fresh);
	share_drop(&r->share);
}

/* ---- changes ---- */

struct name {
	const struct tree_entry *entry;
};

static int
by_path(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return strcmp(x->entry->path, y->entry->path);
}

/* Files and links of a tree, sorted by path; *count is their number. */
static struct name *
names_of(const struct tree_entry *items, size_t n, size_t *count)
{
	struct name *names = calloc(n + 1, sizeof *names);

	must(names != NULL);
	*count = 0;
	for (size_t i = 0; i < n; i++)
		if (items[i].type != file_type_directory)
			names[(*count)++].entry = &items[i];
	qsort(names, *count, sizeof *names, by_path);
	return names;
}

static bool
same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool
is_rewritten(const struct tree_entry *old, const struct tree_entry *now)
{
	return old->type != now->type || !same_text(old->sha256, now->sha256) ||
	       !same_text(old->target, now->target);
}

static void
tell(struct texts *names, uint64_t *count, const struct tree_entry *entry)
{
	auto_free char *shown = artifact_shown(entry->path);

	(*count)++;
	if (names->count < MAX_NAMES)
		must(shown != NULL && texts_add(names, shown) == 0);
}

static void
compare(const struct restore *r, struct restored *reply)
{
	size_t nold, nnow, i = 0, k = 0;
	auto_free struct name *old = names_of(r->old.items, r->old.count, &nold);
	auto_free struct name *now =
	    names_of(r->manifest.entries.items, r->manifest.entries.count, &nnow);

	while (i < nold || k < nnow) {
		int order = i == nold ? 1 : k == nnow ? -1 : by_path(&old[i], &now[k]);

		if (order < 0)
			tell(&reply->deleted, &reply->deleted_count, old[i].entry);
		else if (order > 0)
			tell(&reply->recreated, &reply->recreated_count, now[k].entry);
		else if (is_rewritten(old[i].entry, now[k].entry))
			tell(&reply->rewritten, &reply->rewritten_count, now[k].entry);
		i += order <= 0;
		k += order >= 0;
	}
	for (k = 0; k < nnow; k++)
		reply->restored += now[k].entry->type == file_type_regular;
	known_hide(&r->job.use.session->known, &reply->deleted);
	known_hide(&r->job.use.session->known, &reply->rewritten);
	known_hide(&r->job.use.session->known, &reply->recreated);
}

/* ---- the last step ---- */

static int
take_place(struct restore *r, struct err *e)
{
	struct session *session = r->job.use.session;
	struct event_owner owner = session_owner(session);
	struct audit_event event = {
		.event = event_snapshot_restored,
		.session_id = session->id,
		.detail = r->snapshot_id,
	};

	if (event_record(&owner, event, e) < 0)
		return -1;
	session_swap(&r->job.use, take_ptr(r->fresh), &r->share);
	session_set_parent(session, r->snapshot_id);
	return 0;
}

static void
filled(void *self, const struct err *e)
{
	struct restore *r = self;
	struct err why = { 0 };
	struct restored reply = { 0 };

	r->filling = false;
	if (e != NULL && e->code != ERR_none)
		why = *e;
	else if (r->job.over.code == ERR_none)
		take_place(r, &why);
	if (snapshot_job_failed(&r->job, &why))
		return;
	compare(r, &reply);
	reply.snapshot_id = strdup(r->snapshot_id);
	reply.session_id = strdup(r->job.use.session->id);
	snapshot_job_end(&r->job, &reply);
	message_clear(MSG_restored, &reply);
}

/* ---- filling ---- */

/* The content of an entry arrived, or the reason why not.  If the fill has failed meanwhile, the
 * job waits only for this step.  Otherwise an error ends the fill, and the fill's step fails. */
static void
came(void *self, void *reply, const struct err *e)
{
	struct restore *r = self;
	struct snapshot_content *content = reply;

	if (!r->filling) {
		must(snapshot_job_failed(&r->job, NULL));
		return;
	}
	r->job.pending--;
	if (r->job.over.code != ERR_none)
		files_give(r->fresh, NULL, &r->job.over);
	else if (content == NULL)
		files_give(r->fresh, NULL, e);
	else
		files_give(r->fresh, &content->content, NULL);
}

static void
want(void *self, size_t i)
{
	struct restore *r = self;
	struct snapshot_get request = {
		.snapshot_id = r->snapshot_id,
		.sha256 = r->manifest.entries.items[i].sha256,
	};

	snapshot_job_ask(&r->job, MSG_snapshot_get, &request, came, r);
}

static void
fresh_made(void *self, struct workspace *workspace, const struct err *e)
{
	struct restore *r = self;

	r->fresh = workspace;
	if (snapshot_job_failed(&r->job, workspace == NULL ? e : NULL))
		return;
	snapshot_job_step(&r->job);
	r->filling = true;
	files_fill(r->fresh, r->manifest.entries.items, r->manifest.entries.count, want, filled, r);
}

/* ---- listing both trees ---- */

static void
both_known(struct restore *r)
{
	const struct workspace_limits *limits = &r->job.use.session->limits.room;
	struct err e = { 0 };

	if (r->job.pending > 0)
		return;
	snapshot_job_step(&r->job);
	if (share_take(&r->share, SHARE_WORKSPACES, r->job.call->owner.principal,
		share_of_workspace(limits), &e) == 0)
		workspace_make(limits, fresh_made, r);
	else
		must(snapshot_job_failed(&r->job, &e));
}

/* ---- secrets of the files ---- */

struct wanted {
	struct restore *restore;
	char *namespace, *name;
};

static void
wanted_free(struct wanted *w)
{
	free(w->namespace);
	free(w->name);
	free(w);
}

/* A secret that no longer exists cannot be redacted, and is of no use to anybody either. */
static void
revealed(void *self, void *reply, const struct err *e)
{
	struct wanted *w = self;
	struct restore *r = w->restore;
	struct known *known = &r->job.use.session->known;
	struct err why = { 0 };

	if (reply == NULL && e->code != ERR_secret_not_found)
		why = *e;
	else if (reply != NULL && known_add(known, reply, &why) == 0)
		known_name(known, w->namespace, w->name, &why);
	if (reply != NULL)
		known_wipe(reply);
	wanted_free(w);
	if (!snapshot_job_failed(&r->job, why.code != ERR_none ? &why : NULL))
		both_known(r);
}

static int
ask_for(struct restore *r, const char *whole, struct err *e)
{
	const char *slash = strchr(whole, '/');
	struct wanted *w = slash == NULL ? NULL : calloc(1, sizeof *w);

	if (slash == NULL)
		return err_set(e, ERR_snapshot_corrupt, "the name of a secret in the snapshot");
	must(w != NULL);
	*w = (struct wanted){ r, strndup(whole, (size_t)(slash - whole)), strdup(slash + 1) };
	must(w->namespace != NULL && w->name != NULL);

	struct vault_reveal request = {
		.execution_id = r->snapshot_id,
		.session_id = r->job.use.session->id,
		.namespace = strcmp(w->namespace, "default") == 0 ? NULL : w->namespace,
		.names = { &w->name, 1 },
	};

	if (secrets_ask(&r->job.call->owner, &request, revealed, w, e) != 0) {
		snapshot_job_step(&r->job);
		return 0;
	}
	wanted_free(w);
	return -1;
}

/* Asks the vault for the secrets that programs of the first session got, because its files may
 * contain them. */
static int
ask_for_all(struct restore *r, struct err *e)
{
	for (size_t i = 0; i < r->manifest.secrets.count; i++)
		if (ask_for(r, r->manifest.secrets.items[i], e) < 0)
			return -1;
	return 0;
}

static void
opened(void *self, void *reply, const struct err *e)
{
	struct restore *r = self;
	struct snapshot_manifest *manifest = reply;
	struct err why = { 0 };

	if (manifest != NULL) {
		r->manifest = *manifest;
		*manifest = (struct snapshot_manifest){ 0 };
		if (r->job.over.code == ERR_none)
			ask_for_all(r, &why);
	} else {
		why = *e;
	}
	if (!snapshot_job_failed(&r->job, why.code != ERR_none ? &why : NULL))
		both_known(r);
}

static void
listed(void *self, struct files_tree *tree, const struct err *e)
{
	struct restore *r = self;

	if (tree != NULL) {
		r->old = *tree;
		*tree = (struct files_tree){ 0 };
	}
	if (!snapshot_job_failed(&r->job, tree == NULL ? e : NULL))
		both_known(r);
}

static void
begin(struct snapshot_job *job)
{
	struct restore *r = (struct restore *)job;
	struct snapshot_open request = { .snapshot_id = r->snapshot_id };

	snapshot_job_step(job);
	files_list(job->workspace, MAX_ENTRIES, ARTIFACT_HASH_LIMIT, listed, r);
	snapshot_job_ask(job, MSG_snapshot_open, &request, opened, r);
}

int
snapshot_restore_on_restore_state_snapshot(struct call *call, void *request, struct err *e)
{
	struct restore_state_snapshot *ask = request;
	struct restore *r = calloc(1, sizeof *r);

	if (r == NULL)
		return err_sys(e, "restore");
	r->job.go = begin;
	r->job.clear = clear;
	r->snapshot_id = take_ptr(ask->snapshot_id);
	return snapshot_job_begin(&r->job, call, ask->session_id, e);
}
