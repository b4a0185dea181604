/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c - the operations on the files of a workspace: what a steward is told, and what is made of
 * its answers.
 *
 * Trusts no answer: paths are checked as if a client had sent them, and what is kept is bounded
 * by what was asked for.  Nothing here opens a file.
 */
#include "executor/files.h"

#include "common/auto.h"
#include "common/hash.h"
#include "common/utf8.h"
#include "executor/desk.h"
#include "executor/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_TREE = 64 << 20, /* bytes of the texts of a list */
	MAX_SKIPPED = 256,
	FILE_MODE = 0644,
};

/* Static: a slip is sent as soon as it is packed. */
static struct slip out;

/* Sends what is in out; makes no copy of a tail that is there. */
static int
send_order(struct operation *op, struct slip_head head, const char *path, const void *tail,
    size_t size, struct err *e)
{
	out.head = head;
	if (!slip_pack(&out, path, tail, size))
		return err_set(e, ERR_path_not_allowed, "the path or target is too long");
	return desk_send(op, &out, e);
}

/* The next bytes of content from *at on: 1 all of it is sent, 0 there was no room, -1. */
static int
send_content(struct operation *op, const struct blob *content, size_t *at, struct err *e)
{
	while (*at < content->size) {
		size_t left = content->size - *at;
		size_t size = left < SLIP_MAX_REST ? left : SLIP_MAX_REST;
		int sent = send_order(op, (struct slip_head){ .kind = SLIP_DATA }, NULL,
		    (const char *)content->data + *at, size, e);

		if (sent <= 0)
			return sent;
		*at += size;
	}
	return 1;
}

static bool
has_failed(const struct err *e)
{
	return e->code != ERR_none;
}

/* ---- list ---- */

struct list_operation {
	struct operation op;
	uint64_t limit, hash_limit;
	bool asked;
	struct files_tree tree;
	size_t bytes;
	void (*done)(void *, struct files_tree *, const struct err *);
	void *self;
};

static int
list_go(struct operation *op, struct err *e)
{
	struct list_operation *o = (struct list_operation *)op;
	const struct slip_head head = {
		.kind = SLIP_LIST,
		.limit = o->limit,
		.size = o->hash_limit,
	};
	int sent = o->asked ? 1 : send_order(op, head, NULL, NULL, 0, e);

	o->asked = sent > 0;
	return sent < 0 ? -1 : 0;
}

/* The encoded path of a slip, checked as if a client had sent it; of malloc. */
static char *
path_of(const struct slip *p, struct err *e)
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
take_entry(struct list_operation *o, struct slip *p, struct err *e)
{
	static const enum file_type types[SLIP_TYPES] = {
		[SLIP_REGULAR] = file_type_regular,
		[SLIP_DIRECTORY] = file_type_directory,
		[SLIP_SYMLINK] = file_type_link,
	};
	const struct slip_head *head = &p->head;
	struct tree_entry *entry;

	if (o->tree.count == o->limit || head->size > INT64_MAX ||
	    (head->tail_size > 0) != (head->type == SLIP_SYMLINK) ||
	    head->tail_size >= SLIP_MAX_PATH || (head->hashed && head->type != SLIP_REGULAR))
		return err_set(e, ERR_internal, "the steward's list makes no sense");
	/* list_add() sees a LIST; a tree begins like one. */
	entry = list_add(&o->tree, sizeof *entry);
	if (entry == NULL)
		return err_sys(e, "list");
	entry->type = types[head->type];
	entry->mode = head->mode;
	entry->mtime_ns = head->mtime_ns;
	entry->size = head->size;
	if ((entry->path = path_of(p, e)) == NULL)
		return -1;
	if (head->type == SLIP_SYMLINK)
		entry->target = path_encode(slip_tail(p), head->tail_size);
	if (head->hashed && (entry->sha256 = malloc(HASH_HEX)) != NULL)
		sodium_bin2hex(entry->sha256, HASH_HEX, head->digest, sizeof head->digest);
	if ((head->type == SLIP_SYMLINK && entry->target == NULL) ||
	    (head->hashed && entry->sha256 == NULL))
		return err_sys(e, "list");
	o->bytes += strlen(entry->path) + (entry->target != NULL ? strlen(entry->target) : 0);
	return 0;
}

static int
take_skipped(struct list_operation *o, struct slip *p, struct err *e)
{
	auto_free char *path = path_of(p, e), *text = NULL;

	if (path == NULL)
		return -1;
	if (o->tree.skipped.count == MAX_SKIPPED)
		return 0;
	if (asprintf(&text, "%.3900s: %s", path, desk_fault(p->head.fault)) < 0)
		return err_sys(e, "list");
	utf8_tame(text); /* the cut may have gone through a character */
	return texts_add(&o->tree.skipped, text) < 0 ? err_sys(e, "list") : 0;
}

static int
list_take(struct operation *op, struct slip *p, struct err *e)
{
	struct list_operation *o = (struct list_operation *)op;

	if (o->bytes > MAX_TREE)
		return err_set(e, ERR_limit_exceeded,
		    "the names in the workspace have more than %d bytes together", MAX_TREE);
	if (p->head.kind == SLIP_ENTRY)
		return take_entry(o, p, e);
	if (p->head.kind == SLIP_SKIPPED)
		return take_skipped(o, p, e);
	return err_set(e, ERR_internal, "the steward's list makes no sense");
}

static int
by_path(const void *a, const void *b)
{
	const struct tree_entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int
list_finish(struct operation *op, const struct slip_head *head, struct err *e)
{
	struct list_operation *o = (struct list_operation *)op;
	struct files_tree *tree = &o->tree;

	if (tree->count > 0)
		qsort(tree->items, tree->count, sizeof *tree->items, by_path);
	for (size_t i = 1; i < tree->count; i++)
		if (strcmp(tree->items[i - 1].path, tree->items[i].path) == 0)
			return err_set(e, ERR_internal, "the steward's list makes no sense");
	tree->truncated = head->truncated;
	return 0;
}

static void
list_end(struct operation *op, const struct err *e)
{
	struct list_operation *o = (struct list_operation *)op;

	o->done(o->self, has_failed(e) ? NULL : &o->tree, has_failed(e) ? e : NULL);
	files_tree_clear(&o->tree);
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
	desk_add(workspace, &o->op);
}

void
files_tree_clear(struct files_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		message_clear(MSG_tree_entry, &tree->items[i]);
	free(tree->items);
	texts_clear(&tree->skipped);
	*tree = (struct files_tree){ 0 };
}

/* ---- one file, out or in ---- */

struct file_operation {
	struct operation op;
	char *path, *real;
	struct blob content;
	size_t at, room; /* sent of content; allocated for it */
	uint64_t limit;
	bool overwrite, asked;
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

/* NULL never; a path that is not one is told by the operation's end. */
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
	const struct slip_head head = { .kind = SLIP_READ, .size = o->limit };
	int sent = o->asked ? 1 : send_order(op, head, o->real, NULL, 0, e);

	o->asked = sent > 0;
	return sent < 0 ? -1 : 0;
}

/* Room grows with what comes, not with what is said to come. */
static int
read_take(struct operation *op, struct slip *p, struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;
	size_t size = p->head.tail_size;

	if (p->head.kind != SLIP_DATA || size > o->limit - o->content.size)
		return err_set(e, ERR_internal, "the steward sent more than it was asked for");
	if (o->content.size + size > o->room) {
		size_t room = (o->content.size + size) * 2;
		void *grown = realloc(o->content.data, room + 1);

		if (grown == NULL)
			return err_sys(e, "read");
		o->content.data = grown;
		o->room = room;
	}
	memcpy((char *)o->content.data + o->content.size, slip_tail(p), size);
	o->content.size += size;
	return 0;
}

static int
read_finish(struct operation *op, const struct slip_head *head, struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;

	(void)head;
	if (o->content.data == NULL)
		o->content = blob_copy("", 0);
	return o->content.data == NULL ? err_sys(e, "read") : 0;
}

static void
read_end(struct operation *op, const struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;
	struct err why;

	/* The steward says that, and not how much would do. */
	if (has_failed(e) && e->code == ERR_file_too_large) {
		err_set(&why, e->code, "%.120s: over %" PRIu64 " bytes, the most that may be read",
		    op->path, o->limit);
		e = &why;
	}
	o->was_read(o->self, has_failed(e) ? NULL : &o->content, has_failed(e) ? e : NULL);
	file_free(o);
}

static const struct operation_kind read_kind = { read_go, read_take, read_finish, read_end };

void
files_read(struct workspace *workspace, const char *path, uint64_t limit,
    void (*done)(void *self, struct blob *content, const struct err *), void *self)
{
	struct file_operation *o = file_new(&read_kind, path, self);

	o->limit = limit;
	o->was_read = done;
	desk_add(workspace, &o->op);
}

static int
write_go(struct operation *op, struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;
	const struct slip_head head = {
		.kind = SLIP_WRITE,
		.size = o->content.size,
		.mode = FILE_MODE,
		.overwrite = o->overwrite,
	};
	int sent = o->asked ? 1 : send_order(op, head, o->real, NULL, 0, e);

	o->asked = sent > 0;
	if (sent > 0)
		sent = send_content(op, &o->content, &o->at, e);
	return sent < 0 ? -1 : 0;
}

static int
write_finish(struct operation *op, const struct slip_head *head, struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;

	(void)head;
	return o->at < o->content.size
	           ? err_set(e, ERR_internal, "the steward was done before it had all")
	           : 0;
}

static void
write_end(struct operation *op, const struct err *e)
{
	struct file_operation *o = (struct file_operation *)op;

	o->was_written(o->self, has_failed(e) ? e : NULL);
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
	desk_add(workspace, &o->op);
}

/* ---- a whole workspace in ---- */

/* Links come behind all files, so that none is ever on the way to one; then folders, from the
 * innermost out, get modes that may forbid to write and times that writing in them would change. */
enum phase {
	FILES,
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
	bool named;           /* the head of entry next is sent, its content not wholly */
	bool wanted, in_want; /* the content was asked for and is not here yet; just now */
	struct blob content;
	size_t at;
	struct err failed;
	void (*want)(void *, size_t);
	void (*done)(void *, const struct err *);
	void *self;
};

/* Whether the entry has a turn in this phase, and what is told of it. */
static bool
fill_head(enum phase phase, const struct tree_entry *entry, struct slip_head *head)
{
	static const struct {
		enum slip_kind kind;
		bool now;
	} orders[][file_type_COUNT] = {
		[FILES] = { [file_type_regular] = { SLIP_FILE, true },
		    [file_type_directory] = { SLIP_FOLDER, true } },
		[LINKS] = { [file_type_link] = { SLIP_LINK, true } },
		[STAMPS] = { [file_type_directory] = { SLIP_STAMP, true } },
	};

	*head = (struct slip_head){
		.kind = orders[phase][entry->type].kind,
		.size = entry->size,
		.mode = (uint32_t)entry->mode,
		.mtime_ns = entry->mtime_ns,
	};
	return orders[phase][entry->type].now;
}

/* Asks for the content of a file: true: it is here, false: it will be. */
static bool
fill_content(struct fill_operation *o, const struct tree_entry *entry)
{
	if (entry->type != file_type_regular || entry->size == 0 || o->content.data != NULL ||
	    has_failed(&o->failed))
		return true;
	if (!o->wanted) {
		o->wanted = o->in_want = true;
		desk_wait(&o->op);
		o->want(o->self, o->next);
		o->in_want = false;
	}
	return !o->wanted;
}

/* One entry: 1 it is told, 0 not yet, -1. */
static int
fill_entry(struct fill_operation *o, const struct tree_entry *entry, struct err *e)
{
	struct slip_head head;
	auto_free char *path = NULL, *target = NULL;

	if (!fill_head(o->phase, entry, &head))
		return 1;
	if (o->phase == FILES && !fill_content(o, entry))
		return 0;
	if (has_failed(&o->failed)) {
		*e = o->failed;
		return -1;
	}
	if ((path = path_decode("entries.path", entry->path, e)) == NULL)
		return -1;
	if (o->phase == LINKS && (target = path_decode_target("entries.target",
				      entry->target != NULL ? entry->target : "", e)) == NULL)
		return -1;
	if (!o->named) {
		int sent =
		    send_order(&o->op, head, path, target, target != NULL ? strlen(target) : 0, e);

		if (sent <= 0)
			return sent;
		o->named = true;
	}
	return send_content(&o->op, &o->content, &o->at, e);
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
		told = send_order(op, (struct slip_head){ .kind = SLIP_SYNC }, NULL, NULL, 0, e);
		if (told > 0)
			o->phase = SENT;
	}
	return told < 0 ? -1 : 0;
}

static int
fill_finish(struct operation *op, const struct slip_head *head, struct err *e)
{
	struct fill_operation *o = (struct fill_operation *)op;

	(void)head;
	return o->phase != SENT ? err_set(e, ERR_internal, "the steward was done before it had all")
	                        : 0;
}

static void
fill_end(struct operation *op, const struct err *e)
{
	struct fill_operation *o = (struct fill_operation *)op;

	o->done(o->self, has_failed(e) ? e : NULL);
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
	desk_add(workspace, &o->op);
}

void
files_give(struct workspace *workspace, struct blob *content, const struct err *why)
{
	struct operation *op = desk_current(workspace);
	struct fill_operation *o = (struct fill_operation *)op;

	/* It may have failed meanwhile. */
	if (op == NULL || op->kind != &fill_kind || !o->wanted) {
		if (content != NULL)
			blob_clear(content);
		return;
	}
	o->wanted = false;
	if (content == NULL)
		o->failed = *why;
	else if (content->size != o->entries[o->next].size) {
		err_set(&o->failed, ERR_snapshot_corrupt, "%.120s: %zu bytes came instead of %zu",
		    o->entries[o->next].path, content->size, (size_t)o->entries[o->next].size);
		blob_clear(content);
	} else {
		o->content = *content;
		*content = (struct blob){ 0 };
	}
	if (!o->in_want)
		desk_resume(op);
}
