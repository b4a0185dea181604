/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take.c - create_state_snapshot: list, offer, send contents that the store lacks, commit.
 *
 * The tree is a hostile program's, although none runs now.  A content is sent with its digest from
 * the listing, and only if it still matches; otherwise everything is repeated, once.
 */
#include "executor/session/artifact.h"
#include "executor/session/snapshot/job.h"
#include "executor/session/snapshot/omissions.h"
#include "executor/session/snapshot/snapshot.h"

#include "common/base/auto.h"
#include "common/base/hash.h"

#include <string.h>

enum {
	MAX_PUTS = 16,            /* pending puts, so that the store can sync many at once */
	MAX_PUT_BYTES = 32 << 20, /* their bytes, except for a single larger one */
};

/* A file, in a sorted list. */
struct content {
	const struct tree_entry *file;
};

struct take {
	struct snapshot_job job;
	char *description;
	struct files_tree tree;
	struct content *contents; /* one file for each digest, sorted by digest */
	size_t ncontents;
	struct content *missing; /* those that the store lacks */
	size_t nmissing, next;
	const struct tree_entry *reading; /* NULL: nothing is being read */
	unsigned puts;
	uint64_t put_bytes, new_bytes;
	bool changed, again;
};

static void
clear(struct snapshot_job *job)
{
	struct take *t = (struct take *)job;

	free(t->description);
	free(t->contents);
	free(t->missing);
	files_tree_clear(&t->tree);
}

static void list(struct snapshot_job *);

/* ---- commit ---- */

static void
committed(void *self, void *reply, const struct err *e)
{
	struct take *t = self;

	struct snapshot *snapshot = reply;

	if (snapshot_job_failed(&t->job, reply == NULL ? e : NULL))
		return;
	must(snapshot != NULL);
	omissions_tell(&t->tree, &t->job.use.session->known, snapshot);
	session_set_parent(t->job.use.session, snapshot->snapshot_id);
	snapshot_job_end(&t->job, reply);
}

static void
commit(struct take *t)
{
	const struct session *session = t->job.use.session;
	struct snapshot_commit request = {
		.session_id = (char *)(uintptr_t)session->id,
		.description = t->description,
		.parent = session->parent,
		.new_bytes = t->new_bytes,
		.entries = { t->tree.items, t->tree.count },
		.secrets = session->known.names,
	};

	snapshot_job_ask(&t->job, MSG_snapshot_commit, &request, committed, t);
}

/* ---- send missing contents ---- */

static void put_more(struct take *);

struct put {
	struct take *take;
	uint64_t size;
};

static void
was_put(void *self, void *reply, const struct err *e)
{
	auto_free struct put *put = self;
	struct take *t = put->take;

	t->puts--;
	t->put_bytes -= put->size;
	if (snapshot_job_failed(&t->job, reply == NULL ? e : NULL))
		return;
	t->new_bytes += put->size;
	put_more(t);
}

static void
put_content(struct take *t, const char *digest, struct blob *content)
{
	struct snapshot_put request = { .sha256 = (char *)(uintptr_t)digest, .content = *content };
	struct put *put = malloc(sizeof *put);

	must(put != NULL);
	*put = (struct put){ t, content->size };
	*content = (struct blob){ 0 };
	t->puts++;
	t->put_bytes += put->size;
	snapshot_job_ask(&t->job, MSG_snapshot_put, &request, was_put, put);
	blob_clear(&request.content);
}

static void
was_read(void *self, struct blob *content, const struct err *e)
{
	struct take *t = self;
	const char *digest = t->reading->sha256;
	char now[HASH_HEX];

	t->reading = NULL;
	/* If it was removed or has grown since the listing, it counts as changed. */
	if (content == NULL && (e->code == ERR_not_found || e->code == ERR_file_too_large))
		t->changed = true;
	if (snapshot_job_failed(&t->job, content == NULL && !t->changed ? e : NULL))
		return;
	if (content != NULL) {
		hash_hex(content->data, content->size, now);
		if (strcmp(now, digest) != 0)
			t->changed = true;
		else
			put_content(t, digest, content);
	}
	put_more(t);
}

/* All puts have returned, and a file did not match the listing: starts again, once. */
static void
begin_anew(struct take *t)
{
	struct err e;

	if (!t->again) {
		t->again = true;
		list(&t->job);
		return;
	}
	err_set(&e, ERR_session_busy, "files changed while the snapshot was taken");
	snapshot_job_step(&t->job);
	snapshot_job_failed(&t->job, &e);
}

static void
put_more(struct take *t)
{
	if (t->changed) {
		if (t->job.pending == 0)
			begin_anew(t);
		return;
	}
	if (t->next == t->nmissing) {
		if (t->job.pending == 0)
			commit(t);
		return;
	}
	if (t->reading != NULL || t->puts >= MAX_PUTS || t->put_bytes >= MAX_PUT_BYTES)
		return;
	t->reading = t->missing[t->next++].file;
	snapshot_job_step(&t->job);
	files_read(t->job.workspace, t->reading->path, t->reading->size, was_read, t);
}

/* ---- offer ---- */

static int
by_digest(const void *a, const void *b)
{
	const struct content *x = a, *y = b;

	return strcmp(x->file->sha256, y->file->sha256);
}

/* The store's list of missing digests is accepted only for digests that were offered. */
static int
find_missing(struct take *t, const struct digests *lacks, struct err *e)
{
	t->missing = calloc(lacks->sha256.count + 1, sizeof *t->missing);
	if (t->missing == NULL)
		return err_sys(e, "snapshot");
	for (size_t i = 0; i < lacks->sha256.count; i++) {
		const struct tree_entry file = { .sha256 = lacks->sha256.items[i] };
		const struct content key = { &file };
		const struct content *found =
		    bsearch(&key, t->contents, t->ncontents, sizeof key, by_digest);

		if (found == NULL)
			return err_set(
			    e, ERR_internal, "snapshotd requested a file that it was not offered");
		t->missing[t->nmissing++] = *found;
	}
	return 0;
}

static void
offered(void *self, void *reply, const struct err *e)
{
	struct take *t = self;
	struct err why = { 0 };

	if (reply != NULL)
		find_missing(t, reply, &why);
	if (!snapshot_job_failed(&t->job, reply == NULL ? e : &why))
		put_more(t);
}

/* One file for each digest, sorted. */
static int
find_contents(struct take *t, struct err *e)
{
	size_t n = 0;

	t->contents = calloc(t->tree.count + 1, sizeof *t->contents);
	if (t->contents == NULL)
		return err_sys(e, "snapshot");
	for (size_t i = 0; i < t->tree.count; i++) {
		const struct tree_entry *entry = &t->tree.items[i];

		if (entry->type == file_type_regular)
			t->contents[n++].file = entry;
	}
	qsort(t->contents, n, sizeof *t->contents, by_digest);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || by_digest(&t->contents[i], &t->contents[i - 1]) != 0)
			t->contents[t->ncontents++] = t->contents[i];
	return 0;
}

static void
offer(struct take *t)
{
	struct snapshot_offer request = { .sha256.count = t->ncontents };

	request.sha256.items = calloc(t->ncontents + 1, sizeof(char *));
	must(request.sha256.items != NULL);
	for (size_t i = 0; i < t->ncontents; i++)
		request.sha256.items[i] = t->contents[i].file->sha256;
	snapshot_job_ask(&t->job, MSG_snapshot_offer, &request, offered, t);
	free(request.sha256.items);
}

/* ---- list ---- */

static int
take_tree(struct take *t, struct files_tree *tree, struct err *e)
{
	t->tree = *tree;
	*tree = (struct files_tree){ 0 };
	return omissions_refuse(&t->tree, e) < 0 ? -1 : find_contents(t, e);
}

static void
listed(void *self, struct files_tree *tree, const struct err *e)
{
	struct take *t = self;
	struct err why = { 0 };

	if (tree != NULL)
		take_tree(t, tree, &why);
	if (!snapshot_job_failed(&t->job, tree == NULL ? e : &why))
		offer(t);
}

static void
list(struct snapshot_job *job)
{
	struct take *t = (struct take *)job;
	const struct take empty = {
		.job = t->job, .description = t->description, .again = t->again
	};

	free(t->contents);
	free(t->missing);
	files_tree_clear(&t->tree);
	*t = empty;
	snapshot_job_step(job);
	files_list(job->workspace, OMISSIONS_MAX_ENTRIES, OMISSIONS_MAX_CONTENT, listed, t);
}

int
snapshot_take_on_create_state_snapshot(struct call *call, void *request, struct err *e)
{
	struct create_state_snapshot *ask = request;
	struct take *t = calloc(1, sizeof *t);

	if (t == NULL)
		return err_sys(e, "snapshot");
	t->job.go = list;
	t->job.clear = clear;
	t->description = take_ptr(ask->description);
	return snapshot_job_begin(&t->job, call, ask->session_id, e);
}
