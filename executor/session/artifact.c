/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact.c - handlers that upload, read and list files of a workspace.
 *
 * Names, contents and trees are a hostile program's.  A file helper in a box of its own reads them
 * (files.h); here they are data to count, compare and pass on.  Memory for files is reserved before
 * they are read, however many reads a gateway requests at once.
 */
#include "executor/session/artifact.h"

#include "executor/options.h"
#include "executor/session/mime.h"
#include "executor/session/session.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/reserve.h"
#include "common/base/work.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_SHOWN = 4000,
};

/* ---- files of a run ---- */

char *
artifact_path(const char *filename)
{
	char *path = NULL;

	return asprintf(&path, "/workspace/%s", filename) < 0 ? NULL : path;
}

char *
artifact_shown(const char *filename)
{
	char *text = NULL;

	if (strlen(filename) <= MAX_SHOWN)
		return strdup(filename);
	return asprintf(&text, "(a name of %zu bytes)", strlen(filename)) < 0 ? NULL : text;
}

static int
add_artifact(void *list, const struct tree_entry *entry, struct err *e)
{
	struct artifact *a = list_add(list, sizeof *a);

	if (a == NULL)
		return err_sys(e, "artifacts");
	*a = (struct artifact){
		.filename = strdup(entry->path),
		.path = artifact_path(entry->path),
		.size = entry->size,
		.sha256 = entry->sha256 != NULL ? strdup(entry->sha256) : NULL,
		.mime_type = strdup(mime_of(entry->path, "")),
	};
	return 0;
}

/* Was it written since?  The digest reveals a change that preserves the time; the time reveals a
 * write that preserves the content. */
static bool
differs(const struct tree_entry *old, const struct tree_entry *now)
{
	if (old->type != now->type || old->size != now->size || old->mtime_ns != now->mtime_ns)
		return true;
	return old->sha256 != NULL && now->sha256 != NULL && strcmp(old->sha256, now->sha256) != 0;
}

int
artifact_changes(const struct files_tree *before, const struct files_tree *after,
    struct execution *reply, struct err *e)
{
	size_t old = 0, left_out = 0;

	for (size_t i = 0; i < after->count; i++) {
		const struct tree_entry *now = &after->items[i];

		while (old < before->count && strcmp(before->items[old].path, now->path) < 0)
			old++;

		bool same = old < before->count &&
		            strcmp(before->items[old].path, now->path) == 0 &&
		            !differs(&before->items[old], now);

		if (now->type != file_type_regular || same)
			continue;
		if (reply->artifacts.count == ARTIFACT_MAX_OF_RUN)
			left_out++;
		else if (add_artifact(&reply->artifacts, now, e) < 0)
			return -1;
	}
	if (after->truncated && texts_add(&reply->notes, "Not all new files are listed.") < 0)
		return err_sys(e, "notes");
	if (left_out > 0) {
		char note[128];

		snprintf(note, sizeof note,
		    "%zu more files are new or changed. sandbox_list_artifacts shows all.",
		    left_out);
		return texts_add(&reply->notes, note) < 0 ? err_sys(e, "notes") : 0;
	}
	return 0;
}

/* ---- calls about a file of a session ---- */

struct file_call {
	struct work work; /* computes the digest */
	struct call *call;
	struct session_use use;
	struct workspace *workspace;
	char *path, *type;
	struct blob content;
	uint64_t size, offset;
	struct files_piece piece;
	struct reservation reservation; /* memory for the content */
	char digest[HASH_HEX];
	struct redact *redact; /* of text that is read; NULL: none */
	bool overwrite, redacted;
};

/* Leaves the session before the reply, because the caller may close the session next. */
static void
end_call(struct file_call *f, void *reply, const struct err *e)
{
	struct call *call = f->call;

	reserve_release(&f->reservation);
	session_leave(&f->use);
	if (reply != NULL)
		call_reply(call, reply);
	else
		call_fail(call, e);
	redact_free(f->redact);
	free(f->path);
	free(f->type);
	blob_clear(&f->content);
	free(f);
}

static struct file_call *
begin_call(struct call *call, const char *session_id, bool *made, enum session_way way,
    void (*ready)(void *, struct workspace *, const struct err *), struct err *e)
{
	struct session *session = session_of(call, session_id, made, e);
	struct file_call *f = session != NULL ? calloc(1, sizeof *f) : NULL;

	if (f == NULL)
		return NULL;
	f->call = call;
	f->use = (struct session_use){ .ready = ready, .self = f };
	if (session_enter(session, way, &f->use, e) == 0)
		return f;
	free(f);
	return NULL;
}

static void
hash_content(struct work *work)
{
	struct file_call *f = (struct file_call *)work;

	f->redacted = redact_mask(f->redact, &f->content);
	hash_hex(f->content.data, f->content.size, f->digest);
}

/* Hashes in a thread: 50 MB would delay all other clients. */
static void
hash_and(struct file_call *f, void (*then)(struct work *))
{
	f->work = (struct work){ .run = hash_content, .done = then };
	work_over(&f->work, f->content.size);
}

/* ---- sandbox_upload_file ---- */

static void
uploaded(void *self, const struct err *e)
{
	struct file_call *f = self;
	struct uploaded reply = {
		.session_id = strdup(f->use.session->id),
		.path = artifact_path(f->path),
		.size = f->offset + f->size,
		.sha256 = strdup(f->digest),
	};

	end_call(f, e == NULL || e->code == ERR_none ? &reply : NULL, e);
	message_clear(MSG_uploaded, &reply);
}

static void
upload(void *self, struct workspace *workspace, const struct err *e)
{
	struct file_call *f = self;

	if (workspace == NULL)
		end_call(f, NULL, e);
	else if (f->offset > 0)
		files_append(workspace, f->path, &f->content, f->offset, uploaded, f);
	else
		files_write(workspace, f->path, &f->content, f->overwrite, uploaded, f);
}

static void
upload_hashed(struct work *work)
{
	struct file_call *f = (struct file_call *)work;

	session_wait(&f->use);
}

int
artifact_on_sandbox_upload_file(struct call *call, void *request, struct err *e)
{
	struct sandbox_upload_file *ask = request;
	bool made;

	if (ask->content_base64.size > options.max_upload_bytes)
		return err_set(e, ERR_file_too_large,
		    "content_base64: %zu bytes are over this server's limit of %" PRIu64
		    " for one call; send the file in pieces with offset",
		    ask->content_base64.size, options.max_upload_bytes);

	auto_free char *path = path_check("filename", ask->filename, e);

	if (path == NULL || session_usual(call, ask->session_id, ask->usual_sessions, e) < 0)
		return -1;

	struct file_call *f = begin_call(call, ask->session_id, &made, SESSION_WRITE, upload, e);

	if (f == NULL)
		return -1;
	f->path = take_ptr(path);
	f->content = ask->content_base64;
	ask->content_base64 = (struct blob){ 0 };
	f->size = f->content.size;
	f->offset = ask->offset;
	f->overwrite = ask->overwrite;
	hash_and(f, upload_hashed);
	return 0;
}

/* ---- sandbox_read_artifact ---- */

static void
read_hashed(struct work *work)
{
	struct file_call *f = (struct file_call *)work;
	struct artifact_content reply = {
		.session_id = strdup(f->use.session->id),
		.path = artifact_path(f->path),
		.mime_type = strdup(mime_of(f->path, f->type)),
		.size = f->content.size,
		.sha256 = strdup(f->digest),
		.offset = f->piece.offset,
		.total_size = f->piece.total,
		.content_base64 = f->content,
		.redacted = f->redacted,
	};

	f->content = (struct blob){ 0 };
	end_call(f, &reply, NULL);
	message_clear(MSG_artifact_content, &reply);
}

static void
file_read(void *self, struct blob *content, const struct err *e)
{
	struct file_call *f = self;

	if (content == NULL) {
		end_call(f, NULL, e);
		return;
	}
	f->content = *content;
	*content = (struct blob){ 0 };
	if (mime_is_text(mime_of(f->path, f->type)))
		f->redact = redact_share(f->use.session->known.redact);
	hash_and(f, read_hashed);
}

static void
type_told(void *self, const char *type, const struct err *e)
{
	struct file_call *f = self;

	if (type == NULL) {
		end_call(f, NULL, e);
		return;
	}
	f->type = strdup(type);
	must(f->type != NULL);
	files_read_piece(f->workspace, f->path, &f->piece, file_read, f);
}

static void
start_reading(struct reservation *r)
{
	struct file_call *f =
	    (struct file_call *)((char *)r - offsetof(struct file_call, reservation));

	f->call->on_cancel = NULL;
	files_type(f->workspace, f->path, type_told, f);
}

/* No operation has been started for this call yet. */
static void
cancel_read(struct call *call, enum err_code why)
{
	struct file_call *f = call->self;
	struct err e;

	err_set(&e, why, "the call ended while it waited for memory to read %s", f->path);
	end_call(f, NULL, &e);
}

static void
read_file(void *self, struct workspace *workspace, const struct err *e)
{
	struct file_call *f = self;

	f->workspace = workspace;
	if (workspace == NULL) {
		end_call(f, NULL, e);
		return;
	}
	f->reservation = (struct reservation){
		.owner = &f->call->owner,
		.bytes = f->piece.length > 0 ? f->piece.length : f->piece.limit,
		.granted = start_reading,
	};
	if (reserve_take(&f->reservation)) {
		start_reading(&f->reservation);
		return;
	}
	f->call->self = f;
	f->call->on_cancel = cancel_read;
}

int
artifact_on_sandbox_read_artifact(struct call *call, void *request, struct err *e)
{
	const struct sandbox_read_artifact *ask = request;

	if (ask->length > options.max_upload_bytes)
		return err_set(e, ERR_file_too_large,
		    "length: %" PRIu64 " bytes are over this server's limit of %" PRIu64
		    " for one call",
		    ask->length, options.max_upload_bytes);

	auto_free char *path = path_check("path", ask->path, e);
	struct file_call *f =
	    path == NULL ? NULL
			 : begin_call(call, ask->session_id, NULL, SESSION_READ, read_file, e);

	if (f == NULL)
		return -1;
	f->path = take_ptr(path);
	f->piece = (struct files_piece){
		.offset = ask->offset,
		.length = ask->length,
		.limit = options.max_upload_bytes,
	};
	session_wait(&f->use);
	return 0;
}

/* ---- sandbox_list_artifacts ---- */

enum {
	MAX_SKIPPED = 256, /* of schema.def */
};

static int
skip(struct artifact_list *reply, const char *name, const char *why, struct err *e)
{
	char line[MAX_SHOWN + 64];

	if (reply->skipped.count >= MAX_SKIPPED)
		return 0;
	if (strlen(name) > MAX_SHOWN)
		snprintf(line, sizeof line, "(a name of %zu bytes): %s", strlen(name), why);
	else
		snprintf(line, sizeof line, "%s: %s", name, why);
	return texts_add(&reply->skipped, line) < 0 ? err_sys(e, "skipped") : 0;
}

static int
fill_list(struct artifact_list *reply, const struct files_tree *tree, const struct redact *redact,
    struct err *e)
{
	reply->truncated = tree->truncated;
	for (size_t i = 0; i < tree->skipped.count && i < MAX_SKIPPED; i++)
		if (!redact_finds(redact, tree->skipped.items[i]) &&
		    texts_add(&reply->skipped, tree->skipped.items[i]) < 0)
			return err_sys(e, "skipped");
	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_entry *entry = &tree->items[i];

		/* A name that a program made of a secret. */
		if (redact_finds(redact, entry->path))
			continue;
		if (entry->type == file_type_link &&
		    skip(reply, entry->path, "symbolic link", e) < 0)
			return -1;
		if (entry->type == file_type_regular &&
		    add_artifact(&reply->artifacts, entry, e) < 0)
			return -1;
	}
	return 0;
}

static void
listed(void *self, struct files_tree *tree, const struct err *e)
{
	struct file_call *f = self;
	struct artifact_list reply = { 0 };
	struct err why = { 0 };

	if (tree == NULL) {
		end_call(f, NULL, e);
		return;
	}
	reply.session_id = strdup(f->use.session->id);
	const struct redact *redact = f->use.session->known.redact;

	end_call(f, fill_list(&reply, tree, redact, &why) == 0 ? &reply : NULL, &why);
	message_clear(MSG_artifact_list, &reply);
}

static void
list_files(void *self, struct workspace *workspace, const struct err *e)
{
	struct file_call *f = self;

	if (workspace == NULL)
		end_call(f, NULL, e);
	else
		files_list(workspace, ARTIFACT_MAX_LISTED, ARTIFACT_HASH_LIMIT, listed, f);
}

int
artifact_on_sandbox_list_artifacts(struct call *call, void *request, struct err *e)
{
	const struct sandbox_list_artifacts *ask = request;
	struct file_call *f = begin_call(call, ask->session_id, NULL, SESSION_READ, list_files, e);

	if (f == NULL)
		return -1;
	session_wait(&f->use);
	return 0;
}
