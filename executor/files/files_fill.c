/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_fill.c - writes a whole tree from a snapshot to an empty workspace.
 *
 * Trusts no entry: its path is checked as if a client had sent it, and the file helper resolves it
 * beneath the workspace.
 */
#include "executor/files/files.h"
#include "executor/files/files_inner.h"

#include "common/base/auto.h"
#include "executor/files/path.h"

#include <string.h>

/* Hard links follow all files, because each is another name of one, and links follow them, so that
 * no link is ever part of the path of a file.  Directories get their modes and times last, from the
 * innermost outwards, because a mode may forbid writing, and writing changes the times. */
enum phase {
	FILES,
	HARD_LINKS,
	LINKS,
	STAMPS,
	SYNC,
	SENT,
};

struct fill_operation {
	struct operation op;
	const struct tree_entry *entries;
	size_t count, next;
	enum phase phase;
	bool named;           /* the head of entry next was sent, its content not completely */
	bool wanted, in_want; /* requested but missing; want() is active */
	struct blob content;
	size_t at;
	struct err failed;
	void (*want)(void *, size_t);
	void (*done)(void *, const struct err *);
	void *self;
};

enum {
	HARD_LINK = file_type_COUNT, /* an entry with same_as, beside the types */
	TYPES,
};

/* Does the entry have a turn in this phase?  Fills in the command for it. */
static bool
fill_head(enum phase phase, const struct tree_entry *entry, struct file_frame_head *head)
{
	static const struct {
		enum file_frame_kind kind;
		bool now;
	} orders[][TYPES] = {
		[FILES] = { [file_type_regular] = { FILE_FRAME_FILE, true },
		    [file_type_directory] = { FILE_FRAME_MKDIR, true } },
		[HARD_LINKS] = { [HARD_LINK] = { FILE_FRAME_HARD_LINK, true } },
		[LINKS] = { [file_type_link] = { FILE_FRAME_LINK, true } },
		[STAMPS] = { [file_type_directory] = { FILE_FRAME_STAMP, true } },
	};

	const int type = entry->same_as != NULL ? HARD_LINK : entry->type;

	*head = (struct file_frame_head){
		.kind = orders[phase][type].kind,
		.size = entry->size,
		.mode = (uint32_t)entry->mode,
		.mtime_ns = entry->mtime_ns,
	};
	return orders[phase][type].now;
}

/* Requests the content of a file.  true: it is here; false: it will follow. */
static bool
fill_content(struct fill_operation *o, const struct tree_entry *entry)
{
	if (entry->type != file_type_regular || entry->size == 0 || o->content.data != NULL ||
	    files_failed(&o->failed))
		return true;
	if (!o->wanted) {
		o->wanted = o->in_want = true;
		file_queue_wait(&o->op);
		o->want(o->self, o->next);
		o->in_want = false;
	}
	return !o->wanted;
}

/* What the entry leads to, by its real name, allocated with malloc: NULL with *e, or for an entry
 * that leads nowhere. */
static char *
fill_target(enum phase phase, const struct tree_entry *entry, struct err *e)
{
	if (phase == HARD_LINKS)
		return path_decode("entries.same_as", entry->same_as, e);
	return phase == LINKS ? path_decode_target("entries.target", entry->target ?: "", e) : NULL;
}

/* Sends one entry.  1: sent; 0: not yet; -1. */
static int
fill_entry(struct fill_operation *o, const struct tree_entry *entry, struct err *e)
{
	struct file_frame_head head;
	auto_free char *path = NULL, *target = NULL;

	if (!fill_head(o->phase, entry, &head))
		return 1;
	if (o->phase == FILES && !fill_content(o, entry))
		return 0;
	if (files_failed(&o->failed)) {
		*e = o->failed;
		return -1;
	}
	if ((path = path_decode("entries.path", entry->path, e)) == NULL)
		return -1;
	target = fill_target(o->phase, entry, e);
	if (target == NULL && (o->phase == LINKS || o->phase == HARD_LINKS))
		return -1;
	if (!o->named) {
		int sent =
		    files_send(&o->op, head, path, target, target != NULL ? strlen(target) : 0, e);

		if (sent <= 0)
			return sent;
		o->named = true;
	}
	return files_send_content(&o->op, &o->content, &o->at, e);
}

static int
fill_phase(struct fill_operation *o, struct err *e)
{
	for (; o->next < o->count; o->next++) {
		size_t i = o->phase == STAMPS ? o->count - 1 - o->next : o->next;
		int told = fill_entry(o, &o->entries[i], e);

		if (told <= 0)
			return told;
		o->named = false;
		o->at = 0;
		blob_clear(&o->content);
	}
	o->next = 0;
	o->phase++;
	return 1;
}

static int
fill_go(struct operation *op, struct err *e)
{
	struct fill_operation *o = (struct fill_operation *)op;
	int told = 1;

	while (told > 0 && o->phase < SYNC)
		told = fill_phase(o, e);
	if (told > 0 && o->phase == SYNC) {
		told = files_send(
		    op, (struct file_frame_head){ .kind = FILE_FRAME_SYNC }, NULL, NULL, 0, e);
		if (told > 0)
			o->phase = SENT;
	}
	return told < 0 ? -1 : 0;
}

static int
fill_finish(struct operation *op, const struct file_frame_head *head, struct err *e)
{
	struct fill_operation *o = (struct fill_operation *)op;

	(void)head;
	return o->phase != SENT
	           ? err_set(e, ERR_internal, "the file helper ended before it had all data")
	           : 0;
}

static void
fill_end(struct operation *op, const struct err *e)
{
	struct fill_operation *o = (struct fill_operation *)op;

	o->done(o->self, files_failed(e) ? e : NULL);
	blob_clear(&o->content);
	free(o);
}

static const struct operation_kind fill_kind = { fill_go, NULL, fill_finish, fill_end };

void
files_fill(struct workspace *workspace, const struct tree_entry *entries, size_t count,
    void (*want)(void *self, size_t entry), void (*done)(void *self, const struct err *),
    void *self)
{
	struct fill_operation *o = calloc(1, sizeof *o);

	must(o != NULL);
	*o = (struct fill_operation){
		.op.kind = &fill_kind,
		.entries = entries,
		.count = count,
		.want = want,
		.done = done,
		.self = self,
	};
	file_queue_add(workspace, &o->op);
}

void
files_give(struct workspace *workspace, struct blob *content, const struct err *why)
{
	struct operation *op = file_queue_current(workspace);
	struct fill_operation *o = (struct fill_operation *)op;

	/* The operation may have failed meanwhile. */
	if (op == NULL || op->kind != &fill_kind || !o->wanted) {
		if (content != NULL)
			blob_clear(content);
		return;
	}
	o->wanted = false;
	if (content == NULL)
		o->failed = *why;
	else if (content->size != o->entries[o->next].size) {
		err_set(&o->failed, ERR_snapshot_corrupt,
		    "%.120s: received %zu bytes instead of %zu", o->entries[o->next].path,
		    content->size, (size_t)o->entries[o->next].size);
		blob_clear(content);
	} else {
		o->content = *content;
		*content = (struct blob){ 0 };
	}
	if (!o->in_want)
		file_queue_resume(op);
}
