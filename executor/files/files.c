/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c - operations on the files of a workspace: commands to a file helper and the handling of
 * its answers.  files_fill.c writes whole trees.
 *
 * Trusts no answer: paths are checked as if a client had sent them, and stored data is bounded by
 * the request.  Nothing here opens a file.
 */
#include "executor/files/files.h"
#include "executor/files/files_inner.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/utf8.h"
#include "executor/files/hard_links.h"
#include "executor/files/path.h"
#include "executor/media_type.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_TREE = 64 << 20, /* bytes of the texts of a list */
	MAX_SKIPPED = 256,
	FILE_MODE = 0644,
	FILES_TYPE = 128, /* a media type */
};

/* Static: a file frame is sent as soon as it is packed. */
static struct file_frame out;

int
files_send(struct operation *op, struct file_frame_head head, const char *path, const void *tail,
    size_t size, struct err *e)
{
	out.head = head;
	if (!file_frame_pack(&out, path, tail, size))
		return err_set(e, ERR_path_not_allowed, "the path or target is too long");
	return file_queue_send(op, &out, e);
}

int
files_send_content(struct operation *op, const struct blob *content, size_t *at, struct err *e)
{
	while (*at < content->size) {
		size_t left = content->size - *at;
		size_t size = left < FILE_FRAME_MAX_REST ? left : FILE_FRAME_MAX_REST;
		int sent = files_send(op, (struct file_frame_head){ .kind = FILE_FRAME_DATA }, NULL,
		    (const char *)content->data + *at, size, e);

		if (sent <= 0)
			return sent;
		*at += size;
	}
	return 1;
}

/* Sends the operation's only command, once. */
static int
send_once(
    struct operation *op, bool *asked, struct file_frame_head head, const char *path, struct err *e)
{
	int sent = *asked ? 1 : files_send(op, head, path, NULL, 0, e);

	*asked = sent > 0;
	return sent;
}

bool
files_failed(const struct err *e)
{
	return e->code != ERR_none;
}

int
files_nonsense(struct err *e)
{
	return err_set(e, ERR_internal, "the file helper sent invalid answers");
}

/* ---- list ---- */

struct list_operation {
	struct operation op;
	uint64_t limit, hash_limit;
	bool asked;
	struct files_tree tree;
	struct hard_links links;
	size_t bytes;
	void (*done)(void *, struct files_tree *, const struct err *);
	void *self;
};

static int
list_go(struct operation *op, struct err *e)
{
	struct list_operation *o = (struct list_operation *)op;
	const struct file_frame_head head = {
		.kind = FILE_FRAME_LIST,
		.limit = o->limit,
		.size = o->hash_limit,
	};

	return send_once(op, &o->asked, head, NULL, e) < 0 ? -1 : 0;
}

/* The encoded path of a file frame, checked as if a client had sent it; allocated with malloc. */
static char *
path_of(const struct file_frame *p, struct err *e)
{
	char *path = path_encode(p->rest, p->head.path_size);
	auto_free char *real =
	    path != NULL ? path_decode("a name in the workspace", path, e) : NULL;

	if (path == NULL)
		err_sys(e, "list");
	if (real == NULL) {
		free(path);
		return NULL;
	}
	return path;
}

static int
take_entry(struct list_operation *o, struct file_frame *p, struct err *e)
{
	static const enum file_type types[FILE_FRAME_TYPES] = {
		[FILE_FRAME_REGULAR] = file_type_regular,
		[FILE_FRAME_DIRECTORY] = file_type_directory,
		[FILE_FRAME_SYMLINK] = file_type_link,
	};
	const struct file_frame_head *head = &p->head;
	struct tree_entry *entry;

	if (o->tree.count == o->limit || head->size > INT64_MAX || head->type >= FILE_FRAME_FIFO ||
	    (head->tail_size > 0) != (head->type == FILE_FRAME_SYMLINK) ||
	    head->tail_size >= FILE_FRAME_MAX_PATH ||
	    (head->hashed && head->type != FILE_FRAME_REGULAR))
		return files_nonsense(e);
	/* list_add() expects a LIST; a tree has the same first members. */
	entry = list_add(&o->tree, sizeof *entry);
	if (entry == NULL)
		return err_sys(e, "list");
	entry->type = types[head->type];
	entry->mode = head->mode;
	entry->mtime_ns = head->mtime_ns;
	entry->size = head->size;
	o->tree.attributed += head->attributed;
	if ((entry->path = path_of(p, e)) == NULL)
		return -1;
	if (head->type == FILE_FRAME_SYMLINK)
		entry->target = path_encode(file_frame_tail(p), head->tail_size);
	if (head->hashed && (entry->sha256 = malloc(HASH_HEX)) != NULL)
		sodium_bin2hex(entry->sha256, HASH_HEX, head->digest, sizeof head->digest);
	if ((head->type == FILE_FRAME_SYMLINK && entry->target == NULL) ||
	    (head->hashed && entry->sha256 == NULL))
		return err_sys(e, "list");
	if (head->type == FILE_FRAME_REGULAR && head->inode != 0 &&
	    hard_links_add(&o->links, head->inode, entry->path, e) < 0)
		return -1;
	o->bytes += strlen(entry->path) + (entry->target != NULL ? strlen(entry->target) : 0);
	return 0;
}

/* Keeps the first FIFOs, sockets and devices by name and type, and counts the rest. */
static int
take_special(struct list_operation *o, enum file_frame_type type, const char *path, struct err *e)
{
	static const enum special kinds[FILE_FRAME_TYPES] = {
		[FILE_FRAME_FIFO] = special_fifo,
		[FILE_FRAME_SOCKET] = special_socket,
		[FILE_FRAME_DEVICE] = special_device,
	};
	struct left_out *one;

	if (type < FILE_FRAME_FIFO)
		return files_nonsense(e);
	if (o->tree.nleft_out++ >= FILES_MAX_LEFT_OUT)
		return 0;
	one = list_add(&o->tree.left_out, sizeof *one);
	if (one == NULL || (one->path = strdup(path)) == NULL)
		return err_sys(e, "list");
	one->kind = kinds[type];
	return 0;
}

static int
take_skipped(struct list_operation *o, struct file_frame *p, struct err *e)
{
	auto_free char *path = path_of(p, e), *text = NULL;

	if (path == NULL)
		return -1;
	if (asprintf(&text, "%.3900s: %s", path, file_queue_fault(p->head.fault)) < 0)
		return err_sys(e, "list");
	utf8_tame(text); /* the cut may have split a character */
	if (o->tree.skipped.count < MAX_SKIPPED && texts_add(&o->tree.skipped, text) < 0)
		return err_sys(e, "list");
	if (p->head.fault == FILE_FRAME_IS_SPECIAL)
		return take_special(o, p->head.type, path, e);
	if (p->head.fault != FILE_FRAME_ABSENT && o->tree.lost == NULL) {
		o->tree.lost = take_ptr(text);
		o->tree.barred = p->head.fault == FILE_FRAME_NO_ACCESS;
	}
	return 0;
}

static int
list_take(struct operation *op, struct file_frame *p, struct err *e)
{
	struct list_operation *o = (struct list_operation *)op;

	if (o->bytes > MAX_TREE)
		return err_set(e, ERR_limit_exceeded,
		    "the names in the workspace have more than %d bytes in total", MAX_TREE);
	if (p->head.kind == FILE_FRAME_ENTRY)
		return take_entry(o, p, e);
	if (p->head.kind == FILE_FRAME_SKIPPED)
		return take_skipped(o, p, e);
	return files_nonsense(e);
}

static int
by_path(const void *a, const void *b)
{
	const struct tree_entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int
left_out_by_path(const void *a, const void *b)
{
	const struct left_out *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int
list_finish(struct operation *op, const struct file_frame_head *head, struct err *e)
{
	struct list_operation *o = (struct list_operation *)op;
	struct files_tree *tree = &o->tree;

	if (tree->count > 0)
		qsort(tree->items, tree->count, sizeof *tree->items, by_path);
	if (tree->left_out.count > 0)
		qsort(tree->left_out.items, tree->left_out.count, sizeof *tree->left_out.items,
		    left_out_by_path);
	for (size_t i = 1; i < tree->count; i++)
		if (strcmp(tree->items[i - 1].path, tree->items[i].path) == 0)
			return files_nonsense(e);
	tree->truncated = head->truncated;
	return hard_links_join(&o->links, tree, o->bytes < MAX_TREE ? MAX_TREE - o->bytes : 0, e);
}

static void
list_end(struct operation *op, const struct err *e)
{
	struct list_operation *o = (struct list_operation *)op;

	o->done(o->self, files_failed(e) ? NULL : &o->tree, files_failed(e) ? e : NULL);
	files_tree_clear(&o->tree);
	hard_links_clear(&o->links);
	free(o);
}

static const struct operation_kind list_kind = { list_go, list_take, list_finish, list_end };

void
files_list(struct workspace *workspace, size_t limit, uint64_t hash_limit,
    void (*done)(void *self, struct files_tree *, const struct err *), void *self)
{
	struct list_operation *o = calloc(1, sizeof *o);

	must(o != NULL);
	*o = (struct list_operation){
		.op.kind = &list_kind,
		.limit = limit,
		.hash_limit = hash_limit,
		.done = done,
		.self = self,
	};
	file_queue_add(workspace, &o->op);
}

void
files_tree_clear(struct files_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		message_clear(MSG_tree_entry, &tree->items[i]);
	free(tree->items);
	for (size_t i = 0; i < tree->left_out.count; i++)
		message_clear(MSG_left_out, &tree->left_out.items[i]);
	free(tree->left_out.items);
	free(tree->lost);
	texts_clear(&tree->skipped);
	*tree = (struct files_tree){ 0 };
}

/* ---- one file, out ---- */

struct file_operation {
	struct operation op;
	char *path, *real;
	struct blob content;
	size_t at, room; /* bytes of content: sent; allocated */
	uint64_t offset;
	struct files_piece whole, *piece; /* piece: &whole or the caller's */
	char type[FILES_TYPE];
	bool overwrite, asked;
	void (*was_told)(void *, const char *, const struct err *);
	void (*was_read)(void *, struct blob *, const struct err *);
	void (*was_written)(void *, const struct err *);
	void *self;
};

static void
file_free(struct file_operation *o)
{
	free(o->path);
	free(o->real);
	blob_clear(&o->content);
	free(o);
}

/* Never NULL; an invalid path is reported at the operation's end. */
static struct file_operation *
file_new(const struct operation_kind *kind, const char *path, void *self)
{
	struct file_operation *o = calloc(1, sizeof *o);

	must(o != NULL);
	o->op.kind = kind;
	o->self = self;
	o->path = strdup(path);
	must(o->path != NULL);
	o->op.path = o->path;
	o->real = path_decode("path", path, &o->op.refused);
	return o;
}

static int
read_go(struct operation *op, struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;
	const struct file_frame_head head = {
		.kind = FILE_FRAME_READ,
		.offset = o->piece->offset,
		.limit = o->piece->length,
		.size = o->piece->limit,
	};

	return send_once(op, &o->asked, head, o->real, e) < 0 ? -1 : 0;
}

/* The buffer grows with the received bytes, not with the announced size. */
static int
read_take(struct operation *op, struct file_frame *p, struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;
	size_t size = p->head.tail_size;
	uint64_t most = o->piece->length > 0 ? o->piece->length : o->piece->limit;

	if (p->head.kind != FILE_FRAME_DATA || size > most - o->content.size)
		return files_nonsense(e);
	if (o->content.size + size > o->room) {
		size_t room = (o->content.size + size) * 2;
		void *grown = realloc(o->content.data, room + 1);

		if (grown == NULL)
			return err_sys(e, "read");
		o->content.data = grown;
		o->room = room;
	}
	memcpy((char *)o->content.data + o->content.size, file_frame_tail(p), size);
	o->content.size += size;
	return 0;
}

static int
read_finish(struct operation *op, const struct file_frame_head *head, struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;

	if (head->size > INT64_MAX)
		return files_nonsense(e);
	o->piece->total = head->size;
	if (o->content.data == NULL)
		o->content = blob_copy("", 0);
	return o->content.data == NULL ? err_sys(e, "read") : 0;
}

static void
read_end(struct operation *op, const struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;
	struct err why;

	/* The file helper reports only the fault, not a limit that would suffice. */
	if (files_failed(e) && e->code == ERR_file_too_large) {
		err_set(&why, e->code,
		    "%.120s: larger than %" PRIu64
		    " bytes, the limit of one read; read it in pieces with offset and length",
		    op->path, o->piece->limit);
		e = &why;
	}
	o->was_read(o->self, files_failed(e) ? NULL : &o->content, files_failed(e) ? e : NULL);
	file_free(o);
}

static const struct operation_kind read_kind = { read_go, read_take, read_finish, read_end };

void
files_read(struct workspace *workspace, const char *path, uint64_t limit,
    void (*done)(void *self, struct blob *content, const struct err *), void *self)
{
	struct file_operation *o = file_new(&read_kind, path, self);

	o->whole.limit = limit;
	o->piece = &o->whole;
	o->was_read = done;
	file_queue_add(workspace, &o->op);
}

void
files_read_piece(struct workspace *workspace, const char *path, struct files_piece *piece,
    void (*done)(void *self, struct blob *content, const struct err *), void *self)
{
	struct file_operation *o = file_new(&read_kind, path, self);

	o->piece = piece;
	o->was_read = done;
	file_queue_add(workspace, &o->op);
}

/* ---- types of files ---- */

static int
type_go(struct operation *op, struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;

	return send_once(op, &o->asked, (struct file_frame_head){ .kind = FILE_FRAME_TYPE },
		   o->real, e) < 0
	           ? -1
	           : 0;
}

static int
type_take(struct operation *op, struct file_frame *p, struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;
	size_t size = p->head.tail_size;

	if (p->head.kind != FILE_FRAME_DATA || size >= sizeof o->type)
		return files_nonsense(e);
	memcpy(o->type, file_frame_tail(p), size);
	o->type[size] = 0;
	return size == 0 || media_type_valid(o->type, size) ? 0 : files_nonsense(e);
}

static void
type_end(struct operation *op, const struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;

	o->was_told(o->self, files_failed(e) ? NULL : o->type, files_failed(e) ? e : NULL);
	file_free(o);
}

static const struct operation_kind type_kind = { type_go, type_take, NULL, type_end };

void
files_type(struct workspace *workspace, const char *path,
    void (*done)(void *self, const char *type, const struct err *), void *self)
{
	struct file_operation *o = file_new(&type_kind, path, self);

	o->was_told = done;
	file_queue_add(workspace, &o->op);
}

/* ---- one file, in ---- */

static int
write_go(struct operation *op, struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;
	const struct file_frame_head head = {
		.kind = o->offset > 0 ? FILE_FRAME_APPEND : FILE_FRAME_WRITE,
		.size = o->content.size,
		.offset = o->offset,
		.mode = FILE_MODE,
		.overwrite = o->overwrite,
	};
	int sent = send_once(op, &o->asked, head, o->real, e);

	if (sent > 0)
		sent = files_send_content(op, &o->content, &o->at, e);
	return sent < 0 ? -1 : 0;
}

static int
write_finish(struct operation *op, const struct file_frame_head *head, struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;

	(void)head;
	return o->at < o->content.size ? files_nonsense(e) : 0;
}

static void
write_end(struct operation *op, const struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;

	o->was_written(o->self, files_failed(e) ? e : NULL);
	file_free(o);
}

static const struct operation_kind write_kind = { write_go, NULL, write_finish, write_end };

void
files_write(struct workspace *workspace, const char *path, struct blob *content, bool overwrite,
    void (*done)(void *self, const struct err *), void *self)
{
	struct file_operation *o = file_new(&write_kind, path, self);

	o->content = *content;
	*content = (struct blob){ 0 };
	o->overwrite = overwrite;
	o->was_written = done;
	file_queue_add(workspace, &o->op);
}

void
files_append(struct workspace *workspace, const char *path, struct blob *content, uint64_t offset,
    void (*done)(void *self, const struct err *), void *self)
{
	struct file_operation *o = file_new(&write_kind, path, self);

	must(offset > 0);
	o->content = *content;
	*content = (struct blob){ 0 };
	o->offset = offset;
	o->was_written = done;
	file_queue_add(workspace, &o->op);
}
