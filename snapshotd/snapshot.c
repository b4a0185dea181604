/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c - calls on whole snapshots.
 *
 * Trusts no tree.  Knowing an id gives no access: a snapshot belongs to its principal and its
 * namespace, and does not exist for others.  A snapshot that was acknowledged is durable and
 * recorded in the audit log's spool.  A snapshot that was not acknowledged, because its call was
 * cancelled or cannot be recorded, is removed again.
 */
#include "snapshotd/snapshot.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/timestamp.h"
#include "common/base/work.h"
#include "common/journal/spool.h"
#include "snapshotd/content.h"
#include "snapshotd/gc.h"
#include "snapshotd/options.h"
#include "snapshotd/store.h"
#include "snapshotd/tree.h"

#include <inttypes.h>
#include <string.h>

/* A call on one snapshot; a thread reads, writes or removes its manifest. */
struct job {
	struct work work;
	struct call *call;
	struct catalog *catalog;
	struct record *record;
	char id[37], digest[HASH_HEX]; /* of the record, and of its file */
	struct manifest manifest;
	struct blob file;
	struct err error;
	bool given_up; /* the call was cancelled */
};

static void
job_free(struct job *job)
{
	manifest_clear(&job->manifest);
	blob_clear(&job->file);
	free(job);
}

static void
give(struct job *job, void (*run)(struct work *), void (*done)(struct work *))
{
	job->work.run = run;
	job->work.done = done;
	work_give(&job->work);
}

static struct job *
job_new(struct call *call, struct catalog *catalog, struct record *record, struct err *e)
{
	struct job *job = calloc(1, sizeof *job);

	if (job == NULL) {
		err_sys(e, "snapshot");
		return NULL;
	}
	*job = (struct job){ .call = call, .catalog = catalog, .record = record };
	if (record != NULL)
		memcpy(job->id, record->id, sizeof job->id);
	return job;
}

/* The texts are borrowed. */
static int
record_event(const struct job *job, enum event event, struct err *e)
{
	const struct record *r = job->record;
	struct audit_event what = {
		.event = (int)event,
		.principal = (char *)(uintptr_t)job->call->owner.principal,
		.namespace = *job->call->owner.namespace != 0
		                 ? (char *)(uintptr_t)job->call->owner.namespace
		                 : NULL,
		.space = *job->call->owner.namespace != 0
		             ? (char *)(uintptr_t)job->call->owner.namespace
		             : NULL,
		.session_id = r->session_id,
		.sha256 = *job->digest != 0 ? (char *)(uintptr_t)job->digest : NULL,
		.size = r->about.total_bytes,
		.detail = (char *)(uintptr_t)r->id,
	};
	int result = spool_record(&what, e);

	free(what.uid);
	return result;
}

/* ---- drop ---- */

static void
remove_run(struct work *work)
{
	struct job *job = (struct job *)work;

	store_remove_manifest(job->catalog->owner, job->id, &job->error);
}

static void
drop_done(struct work *work)
{
	struct job *job = (struct job *)work;
	struct snapshot_gone reply = { .snapshot_id = job->id, .status = (char[]){ "deleted" } };

	if (job->error.code == ERR_none) {
		catalog_remove_record(job->catalog, job->record);
		gc_run();
		call_reply(job->call, &reply);
	} else {
		job->record->hidden = false;
		call_fail(job->call, &job->error);
	}
	job_free(job);
}

int
snapshot_on_drop(struct call *call, void *request, struct err *e)
{
	const struct snapshot_drop *ask = request;
	struct catalog *catalog = catalog_find(&call->owner);
	struct record *record;
	struct job *job;

	if (content_check_principal(call, e) < 0 ||
	    (record = catalog_record(catalog, ask->snapshot_id, e)) == NULL ||
	    (job = job_new(call, catalog, record, e)) == NULL)
		return -1;
	if (record_event(job, event_snapshot_deleted, e) < 0) {
		job_free(job);
		return -1;
	}
	record->hidden = true;
	give(job, remove_run, drop_done);
	return 0;
}

/* ---- commit ---- */

static void
commit_run(struct work *work)
{
	struct job *job = (struct job *)work;

	store_put_manifest(job->catalog->owner, job->id, &job->file, &job->error);
	hash_hex(job->file.data, job->file.size, job->digest);
}

/* Removed after it was durable; job->error says why. */
static void
undone(struct work *work)
{
	struct job *job = (struct job *)work;

	catalog_remove_record(job->catalog, job->record);
	gc_run();
	call_fail(job->call, &job->error);
	job_free(job);
}

static void
undo_run(struct work *work)
{
	struct job *job = (struct job *)work;
	struct err e;

	if (store_remove_manifest(job->catalog->owner, job->id, &e) < 0)
		log_error("a snapshot that was not acknowledged could not be removed",
		    LOG_S("snapshot_id", job->id), LOG_E(&e));
}

static void
commit_done(struct work *work)
{
	struct job *job = (struct job *)work;
	struct record *r = job->record;

	if (job->error.code != ERR_none) {
		undone(work);
		return;
	}
	if (job->given_up)
		err_set(&job->error, ERR_cancelled, "the snapshot was cancelled");
	else
		record_event(job, event_snapshot_created, &job->error);
	if (job->error.code != ERR_none) {
		give(job, undo_run, undone);
		return;
	}
	r->hidden = false;
	call_reply(job->call, &r->about);
	job_free(job);
}

static void
on_cancel(struct call *call, enum err_code why)
{
	struct job *job = call->self;

	(void)why;
	job->given_up = true;
}

/* Text that sorts by time; never repeats. */
static char *
time_text(void)
{
	static int64_t last_us;
	struct timespec now = timestamp_now();
	char text[TIMESTAMP_TEXT];
	int64_t us = now.tv_sec * 1000000 + now.tv_nsec / 1000;

	last_us = us > last_us ? us : last_us + 1;
	now = (struct timespec){ last_us / 1000000, last_us % 1000000 * 1000 };
	timestamp_text(now, 6, text);
	return strdup(text);
}

/* The manifest of the request; takes the request's texts and entries. */
static int
compose(struct job *job, struct snapshot_commit *ask, uint64_t files, uint64_t bytes, struct err *e)
{
	struct snapshot *s = calloc(1, sizeof *s);
	struct manifest *m = &job->manifest;

	m->tree.snapshot = s;
	m->owner = job->call->owner;
	m->session_id = take_ptr(ask->session_id);
	m->tree.entries.items = take_ptr(ask->entries.items);
	m->tree.entries.count = ask->entries.count;
	ask->entries.count = 0;
	m->tree.secrets = ask->secrets;
	ask->secrets = (struct texts){ 0 };
	if (s == NULL)
		return err_sys(e, "snapshot");
	hash_uuid(job->id);
	*s = (struct snapshot){
		.snapshot_id = strdup(job->id),
		.created_at = time_text(),
		.description = take_ptr(ask->description),
		.parent = take_ptr(ask->parent),
		.file_count = files,
		.total_bytes = bytes,
		.new_bytes = ask->new_bytes,
	};
	if (s->snapshot_id == NULL || s->created_at == NULL)
		return err_sys(e, "snapshot");
	return manifest_write(m, &job->file, e);
}

static int
check_commit(struct catalog *catalog, const struct snapshot_commit *ask, uint64_t *files,
    uint64_t *bytes, struct err *e)
{
	if (tree_check(ask->entries.items, ask->entries.count, files, bytes, e) < 0)
		return -1;
	if (ask->new_bytes > *bytes)
		return err_set(e, ERR_invalid_argument,
		    "new_bytes: %" PRIu64 ", more than the %" PRIu64 " of all files",
		    ask->new_bytes, *bytes);
	if (catalog->nrecords >= options.max_snapshots)
		return err_set(e, ERR_limit_exceeded,
		    "you have %zu snapshots, and the setting max_snapshots allows %" PRIu64
		    "; delete some",
		    catalog->nrecords, options.max_snapshots);
	return 0;
}

int
snapshot_on_commit(struct call *call, void *request, struct err *e)
{
	struct snapshot_commit *ask = request;
	struct catalog *catalog;
	struct job *job;
	uint64_t files, bytes;

	if (content_check_principal(call, e) < 0 ||
	    (catalog = catalog_make(&call->owner, e)) == NULL ||
	    check_commit(catalog, ask, &files, &bytes, e) < 0 ||
	    (job = job_new(call, catalog, NULL, e)) == NULL)
		return -1;
	if (compose(job, ask, files, bytes, e) < 0 ||
	    (job->record = catalog_add_record(
		 catalog, &job->manifest, job->file.size, &options, e)) == NULL) {
		job_free(job);
		return -1;
	}
	job->record->hidden = true;
	call->self = job;
	call->on_cancel = on_cancel;
	give(job, commit_run, commit_done);
	return 0;
}

/* ---- open ---- */

static void
open_run(struct work *work)
{
	struct job *job = (struct job *)work;

	if (store_get_manifest(job->catalog->owner, job->id, &job->file, &job->error) == 0)
		manifest_read(&job->file, &job->manifest, &job->error);
}

/* The manifest names its owner too: a file under another name belongs to no owner. */
static int
check_owner(const struct job *job, struct err *e)
{
	const struct manifest *m = &job->manifest;

	if (owner_equal(&m->owner, &job->call->owner) &&
	    strcmp(m->tree.snapshot->snapshot_id, job->id) == 0)
		return 0;
	return err_set(e, ERR_snapshot_corrupt, "the snapshot's manifest belongs to another owner");
}

static void
open_done(struct work *work)
{
	struct job *job = (struct job *)work;
	struct err gone;

	if (job->error.code == ERR_none && check_owner(job, &job->error) == 0) {
		call_reply(job->call, &job->manifest.tree);
	} else if (catalog_record(job->catalog, job->id, &gone) == NULL) {
		call_fail(job->call, &gone); /* deleted meanwhile */
	} else {
		if (job->error.code == ERR_snapshot_corrupt)
			log_error("a snapshot is broken", LOG_S("snapshot_id", job->id),
			    LOG_E(&job->error));
		call_fail(job->call, &job->error);
	}
	job_free(job);
}

int
snapshot_on_open(struct call *call, void *request, struct err *e)
{
	const struct snapshot_open *ask = request;
	struct catalog *catalog = catalog_find(&call->owner);
	struct record *record;
	struct job *job;

	if (content_check_principal(call, e) < 0 ||
	    (record = catalog_record(catalog, ask->snapshot_id, e)) == NULL)
		return -1;
	if (record->broken)
		return err_set(e, ERR_snapshot_corrupt, "the snapshot's manifest is broken");
	if ((job = job_new(call, catalog, record, e)) == NULL)
		return -1;
	give(job, open_run, open_done);
	return 0;
}

/* ---- query ---- */

static bool
is_asked_for(const struct record *r, const char *session_id)
{
	return !r->broken && !r->hidden &&
	       (session_id == NULL || strcmp(r->session_id, session_id) == 0);
}

int
snapshot_on_query(struct call *call, void *request, struct err *e)
{
	const struct snapshot_query *ask = request;
	const struct catalog *catalog = catalog_find(&call->owner);
	struct snapshot_list reply = { 0 };

	if (content_check_principal(call, e) < 0)
		return -1;
	/* Borrowed from the records. */
	reply.snapshots.items =
	    calloc(catalog != NULL ? catalog->nrecords + 1 : 1, sizeof(struct snapshot));
	if (reply.snapshots.items == NULL)
		return err_sys(e, "snapshots");
	for (size_t i = 0; catalog != NULL && i < catalog->nrecords; i++)
		if (is_asked_for(catalog->records[i], ask->session_id))
			reply.snapshots.items[reply.snapshots.count++] = catalog->records[i]->about;
	call_reply(call, &reply);
	free(reply.snapshots.items);
	return 0;
}
