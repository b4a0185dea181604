/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.c - describe_state_snapshot: the manifest of a snapshot, and the contents of its first
 * files.
 *
 * Contents are those of hostile programs: they are passed on, never interpreted.  A file may hold a
 * secret that a program got, which only a session that knows the secret can mask.  So nothing is
 * shown of a snapshot that names secrets; a restore into a session is the way to read it.
 */
#include "executor/session/artifact.h"
#include "executor/session/snapshot/snapshot.h"

#include "executor/options.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "common/codec/base64.h"

#include <string.h>

enum {
	MAX_FILES = 1000, /* of schema.def */
	MAX_BYTES = 1 << 20,
};

struct show {
	struct call *call;
	struct err over; /* the caller no longer waits */
	struct snapshot_record record;
	size_t at, left; /* the file whose content comes next; bytes that may still come */
};

static void
finish(struct show *s, const struct err *e)
{
	if (e != NULL)
		call_fail(s->call, e);
	else
		call_reply(s->call, &s->record);
	message_clear(MSG_snapshot_record, &s->record);
	free(s);
}

static void
cancelled(struct call *call, enum err_code why)
{
	struct show *s = call->self;

	err_set(&s->over, why, "the caller no longer waits");
}

static bool
ask(struct show *s, enum msg_id message, void *request,
    void (*done)(void *self, void *reply, const struct err *e), struct err *e)
{
	const struct ask ask = {
		.to = PEER_snapshotd,
		.message = message,
		.request = request,
		.owner = &s->call->owner,
		.trace = s->call->trace,
		.timeout_ms = (int64_t)options.snapshot_ms,
		.self = s,
		.done = done,
	};

	return bus_ask(&ask, e) != 0;
}

/* ---- contents, one after the other ---- */

static void
keep(struct snapshot_file *file, const struct blob *content)
{
	bool text = memchr(content->data, '\0', content->size) == NULL &&
	            utf8_valid(content->data, content->size);

	file->encoding = strdup(text ? "utf-8" : "base64");
	file->content = malloc(base64_room(content->size) + 1);
	must(file->encoding != NULL && file->content != NULL);
	if (!text) {
		base64_write(file->content, content->data, content->size);
		return;
	}
	memcpy(file->content, content->data, content->size);
	file->content[content->size] = '\0';
}

static void next(struct show *);

static void
came(void *self, void *reply, const struct err *e)
{
	struct show *s = self;
	struct snapshot_content *content = reply;
	struct snapshot_file *file = &s->record.files.items[s->at];

	if (content == NULL || s->over.code != ERR_none) {
		finish(s, content == NULL ? e : &s->over);
		return;
	}
	if (content->content.size == file->size)
		keep(file, &content->content);
	s->at++;
	next(s);
}

/* The next file that fits; the snapshot is whole without it, so a large one is passed over. */
static void
next(struct show *s)
{
	struct snapshot_file *files = s->record.files.items;
	struct snapshot_get request = { .snapshot_id = s->record.snapshot->snapshot_id };
	struct err e;

	while (s->at < s->record.files.count &&
	       (files[s->at].sha256 == NULL || files[s->at].size > s->left)) {
		s->record.truncated = true;
		s->at++;
	}
	if (s->at == s->record.files.count) {
		finish(s, NULL);
		return;
	}
	s->left -= files[s->at].size;
	request.sha256 = files[s->at].sha256;
	if (!ask(s, MSG_snapshot_get, &request, came, &e))
		finish(s, &e);
}

/* ---- the manifest ---- */

static int
by_path(const void *a, const void *b)
{
	const struct snapshot_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static struct snapshot_file
file_of(struct tree_entry *entry)
{
	struct snapshot_file file = { .path = artifact_shown(entry->path),
		.size = entry->size,
		.mtime = (double)entry->mtime_ns / 1e9,
		.sha256 = take_ptr(entry->sha256) };

	must(file.path != NULL);
	return file;
}

static void
add_files(struct snapshot_record *record, struct snapshot_manifest *manifest)
{
	size_t count = manifest->entries.count;

	record->files.items = calloc(count + 1, sizeof *record->files.items);
	must(record->files.items != NULL);
	for (size_t i = 0; i < count; i++)
		if (manifest->entries.items[i].type == file_type_regular)
			record->files.items[record->files.count++] =
			    file_of(&manifest->entries.items[i]);
	qsort(record->files.items, record->files.count, sizeof *record->files.items, by_path);
	while (record->files.count > MAX_FILES) {
		message_clear(MSG_snapshot_file, &record->files.items[--record->files.count]);
		record->truncated = true;
	}
}

static void
opened(void *self, void *reply, const struct err *e)
{
	struct show *s = self;
	struct snapshot_manifest *manifest = reply;

	if (manifest == NULL || s->over.code != ERR_none) {
		finish(s, manifest == NULL ? e : &s->over);
		return;
	}
	s->record.snapshot = take_ptr(manifest->snapshot);
	if (manifest->secrets.count == 0)
		add_files(&s->record, manifest);
	else
		must(texts_add(&s->record.notes,
			 "Programs of this session got secrets, which its files may hold. Restore "
			 "the snapshot into a session to read them.") == 0);
	next(s);
}

int
snapshot_show_on_describe_state_snapshot(struct call *call, void *request, struct err *e)
{
	const struct describe_state_snapshot *asked = request;
	struct snapshot_open open = { .snapshot_id = asked->snapshot_id };
	struct show *s = calloc(1, sizeof *s);

	must(s != NULL);
	s->call = call;
	s->left = MAX_BYTES;
	if (!ask(s, MSG_snapshot_open, &open, opened, e)) {
		free(s);
		return -1;
	}
	call->self = s;
	call->on_cancel = cancelled;
	return 0;
}
