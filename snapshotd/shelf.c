/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shelf.c - the catalog: tables of the store, so that no call has to search the disk.
 *
 * Trusts store.c to show what is on the disk.  Never returns a content as expired that a snapshot
 * needs, an offer relies on, or a call uses.
 */
#include "snapshotd/shelf.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "snapshotd/options.h"
#include "snapshotd/store.h"

#include <inttypes.h>
#include <search.h>
#include <string.h>

enum {
	BLOCK = 4096, /* disk space of the smallest file */
};

/* An operator may need the contents of a broken manifest to repair it. */
static const int64_t FOR_EVER = INT64_MAX;

static struct shelf *shelves;
static uint64_t store_bytes; /* of all owners */

static int
by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* ---- limits ---- */

static uint64_t
cost(uint64_t size)
{
	return (size / BLOCK + 1) * BLOCK;
}

static int
charge(struct shelf *shelf, uint64_t size, const struct options *limits, struct err *e)
{
	if (limits != NULL && shelf->bytes + cost(size) > limits->max_principal_bytes)
		return err_set(e, ERR_limit_exceeded,
		    "your snapshots hold %" PRIu64 " bytes, and the setting "
		    "max_principal_bytes allows %" PRIu64 "; delete some",
		    shelf->bytes, limits->max_principal_bytes);
	if (limits != NULL && store_bytes + cost(size) > limits->max_store_bytes)
		return err_set(e, ERR_limit_exceeded,
		    "the snapshot store is full: the setting max_store_bytes allows %" PRIu64,
		    limits->max_store_bytes);
	shelf->bytes += cost(size);
	store_bytes += cost(size);
	return 0;
}

static void
credit(struct shelf *shelf, uint64_t size)
{
	shelf->bytes -= cost(size);
	store_bytes -= cost(size);
}

/* ---- owners ---- */

static struct shelf *
of_owner(const char *owner)
{
	struct shelf *shelf = shelves;

	while (shelf != NULL && strcmp(shelf->owner, owner) != 0)
		shelf = shelf->next;
	return shelf;
}

struct shelf *
shelf_of_owner(const char *owner, struct err *e)
{
	struct shelf *shelf = of_owner(owner);

	if (shelf != NULL)
		return shelf;
	shelf = calloc(1, sizeof *shelf);
	if (shelf == NULL) {
		err_sys(e, "shelf");
		return NULL;
	}
	memcpy(shelf->owner, owner, sizeof shelf->owner);
	TAILQ_INIT(&shelf->idle);
	shelf->next = shelves;
	return shelves = shelf;
}

void
shelf_owner(const char *principal, const char *space, char owner[HASH_HEX])
{
	struct hash hash;

	hash_begin(&hash);
	hash_add(&hash, principal, strlen(principal));
	if (*space != '\0') {
		hash_add(&hash, "", 1); /* no principal contains a zero byte */
		hash_add(&hash, space, strlen(space));
	}
	hash_end_hex(&hash, owner);
}

struct shelf *
shelf_find(const char *principal, const char *space)
{
	char owner[HASH_HEX];

	shelf_owner(principal, space, owner);
	return of_owner(owner);
}

struct shelf *
shelf_make(const char *principal, const char *space, struct err *e)
{
	char owner[HASH_HEX];
	struct shelf *shelf;

	shelf_owner(principal, space, owner);
	shelf = of_owner(owner);
	if (shelf != NULL)
		return shelf;
	return store_add_owner(owner, e) < 0 ? NULL : shelf_of_owner(owner, e);
}

struct shelf *
shelf_first(void)
{
	return shelves;
}

/* ---- contents ---- */

struct content *
shelf_content(const struct shelf *shelf, const char *digest)
{
	struct content **found = tfind(digest, &shelf->contents, by_name);

	return found != NULL ? *found : NULL;
}

/* Inserts it into the idle list, which is ordered by held_until_ms. */
static void
set_idle(struct shelf *shelf, struct content *c)
{
	struct content *before = TAILQ_LAST(&shelf->idle, idle_list);

	while (before != NULL && before->held_until_ms > c->held_until_ms)
		before = TAILQ_PREV(before, idle_list, link);
	if (before != NULL)
		TAILQ_INSERT_AFTER(&shelf->idle, before, c, link);
	else
		TAILQ_INSERT_HEAD(&shelf->idle, c, link);
	c->idle = true;
}

static void
set_needed(struct shelf *shelf, struct content *c)
{
	if (c->idle)
		TAILQ_REMOVE(&shelf->idle, c, link);
	c->idle = false;
}

struct content *
shelf_add_content(struct shelf *shelf, const char *digest, uint64_t size,
    const struct options *limits, struct err *e)
{
	struct content *c;

	if (charge(shelf, size, limits, e) < 0)
		return NULL;
	c = calloc(1, sizeof *c);
	if (c != NULL) {
		memcpy(c->digest, digest, sizeof c->digest);
		c->size = size;
		if (tsearch(c, &shelf->contents, by_name) != NULL) {
			set_idle(shelf, c);
			return c;
		}
	}
	free(c);
	credit(shelf, size);
	err_sys(e, "content");
	return NULL;
}

void
shelf_remove_content(struct shelf *shelf, struct content *c)
{
	must(c->idle && c->busy == 0);
	set_needed(shelf, c);
	tdelete(c, &shelf->contents, by_name);
	credit(shelf, c->size);
	free(c);
}

static int64_t
held_from_now(void)
{
	return loop_now_ms() + (int64_t)options.hold_seconds * 1000;
}

static void
hold_until(struct shelf *shelf, struct content *c, int64_t ms)
{
	c->held_until_ms = ms;
	if (c->idle) {
		set_needed(shelf, c);
		set_idle(shelf, c);
	}
}

void
shelf_hold(struct shelf *shelf, struct content *c)
{
	if (c->held_until_ms != FOR_EVER)
		hold_until(shelf, c, held_from_now());
}

void
shelf_set_size(struct shelf *shelf, struct content *c, uint64_t size)
{
	struct err e;

	credit(shelf, c->size);
	c->size = size;
	must(charge(shelf, size, NULL, &e) == 0);
}

struct content *
shelf_expired(const struct shelf *shelf)
{
	struct content *c = TAILQ_FIRST(&shelf->idle);

	while (c != NULL && c->busy > 0)
		c = TAILQ_NEXT(c, link);
	return c != NULL && c->held_until_ms <= loop_now_ms() ? c : NULL;
}

static void
hold_as_offered(const void *node, VISIT visit, void *until)
{
	struct content *const *c = node;

	if (visit == postorder || visit == leaf)
		(*c)->held_until_ms = *(const int64_t *)until;
}

/* Also holds contents that a snapshot needs: an offer may rely on one whose snapshot is then
 * dropped. */
void
shelf_settle(struct shelf *shelf)
{
	bool broken = shelf->nrecords > 0 && shelf->records[0]->broken;
	int64_t until = broken ? FOR_EVER : held_from_now();

	/* All have the same time, so the list stays in order. */
	twalk_r(shelf->contents, hold_as_offered, &until);
}

/* ---- records ---- */

static void
need(struct shelf *shelf, struct content *c)
{
	set_needed(shelf, c);
	c->needed++;
}

/* Frees room now, unless another offer relies on the content. */
static void
need_no_more(struct shelf *shelf, struct content *c)
{
	if (--c->needed == 0)
		set_idle(shelf, c);
}

struct record *
shelf_record(const struct shelf *shelf, const char *id, const char *space, struct err *e)
{
	for (size_t i = 0; shelf != NULL && i < shelf->nrecords; i++) {
		struct record *r = shelf->records[i];

		if (strcmp(r->id, id) == 0 && !r->hidden &&
		    (r->broken || strcmp(r->space, space) == 0))
			return r;
	}
	err_set(e, ERR_not_found, "snapshot_id: you have no such snapshot");
	return NULL;
}

static void
free_record(struct record *r)
{
	message_clear(MSG_snapshot, &r->about);
	free(r->space);
	free(r->session_id);
	free(r->contents);
	free(r);
}

static int
make_room(struct shelf *shelf, struct err *e)
{
	size_t room = shelf->room * 2 + 16;
	struct record **grown;

	if (shelf->nrecords < shelf->room)
		return 0;
	grown = reallocarray(shelf->records, room, sizeof(void *));
	if (grown == NULL)
		return err_sys(e, "snapshots");
	shelf->records = grown;
	shelf->room = room;
	return 0;
}

/* By creation time, which is text that sorts.  Broken ones have none and come first. */
static void
insert(struct shelf *shelf, struct record *r, const char *time)
{
	size_t at = shelf->nrecords++;

	for (; at > 0; at--) {
		const struct record *before = shelf->records[at - 1];

		if (before->broken || strcmp(before->about.created_at, time) <= 0)
			break;
		shelf->records[at] = shelf->records[at - 1];
	}
	shelf->records[at] = r;
}

static int
by_digest(const void *a, const void *b)
{
	const struct content *const *x = a, *const *y = b;

	return strcmp((*x)->digest, (*y)->digest);
}

/* The content that an entry needs.  At the start, a missing content is added. */
static struct content *
content_of(
    struct shelf *shelf, const struct tree_entry *t, const struct options *limits, struct err *e)
{
	struct content *c = shelf_content(shelf, t->sha256);

	if (c == NULL && limits == NULL)
		return shelf_add_content(shelf, t->sha256, t->size, NULL, e);
	if (c != NULL && (limits == NULL || (c->here && c->size == t->size)))
		return c;
	err_set(e, ERR_not_found,
	    "entries: the content of %.120s is not in the store; offer and put it first", t->path);
	return NULL;
}

static int
find_contents(struct shelf *shelf, struct record *r, const struct snapshot_manifest *tree,
    const struct options *limits, struct err *e)
{
	size_t n = 0, count = tree->entries.count;

	r->contents = calloc(count + 1, sizeof(struct content *));
	if (r->contents == NULL)
		return err_sys(e, "snapshot");
	for (size_t i = 0; i < count; i++) {
		const struct tree_entry *t = &tree->entries.items[i];

		if (t->type != file_type_regular)
			continue;
		if ((r->contents[n] = content_of(shelf, t, limits, e)) == NULL)
			return -1;
		n++;
	}
	qsort(r->contents, n, sizeof(struct content *), by_digest);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || r->contents[i] != r->contents[i - 1])
			r->contents[r->ncontents++] = r->contents[i];
	return 0;
}

struct record *
shelf_add_record(struct shelf *shelf, struct manifest *m, uint64_t manifest_bytes,
    const struct options *limits, struct err *e)
{
	struct record *r = calloc(1, sizeof *r);

	if (r == NULL) {
		err_sys(e, "snapshot");
		return NULL;
	}
	strncpy(r->id, m->tree.snapshot->snapshot_id, sizeof r->id - 1);
	r->manifest_bytes = manifest_bytes;
	if (make_room(shelf, e) < 0 || find_contents(shelf, r, &m->tree, limits, e) < 0 ||
	    charge(shelf, manifest_bytes, limits, e) < 0) {
		free_record(r);
		return NULL;
	}
	for (size_t i = 0; i < r->ncontents; i++)
		need(shelf, r->contents[i]);
	r->space = take_ptr(m->space);
	r->session_id = take_ptr(m->session_id);
	r->about = *m->tree.snapshot;
	*m->tree.snapshot = (struct snapshot){ 0 };
	insert(shelf, r, r->about.created_at);
	return r;
}

struct record *
shelf_add_broken(struct shelf *shelf, const char *id, struct err *e)
{
	struct record *r = calloc(1, sizeof *r);

	if (r == NULL || make_room(shelf, e) < 0 || charge(shelf, 0, NULL, e) < 0) {
		if (r == NULL)
			err_sys(e, "snapshot");
		free(r);
		return NULL;
	}
	strncpy(r->id, id, sizeof r->id - 1);
	r->broken = true;
	insert(shelf, r, "");
	return r;
}

void
shelf_remove_record(struct shelf *shelf, struct record *r)
{
	size_t at = 0;

	while (shelf->records[at] != r)
		at++;
	for (shelf->nrecords--; at < shelf->nrecords; at++)
		shelf->records[at] = shelf->records[at + 1];
	for (size_t i = 0; i < r->ncontents; i++)
		need_no_more(shelf, r->contents[i]);
	credit(shelf, r->manifest_bytes);
	free_record(r);
}

struct content *
shelf_record_content(const struct record *r, const char *digest)
{
	struct content key;
	const struct content *at = &key;
	struct content **found;

	memcpy(key.digest, digest, sizeof key.digest);
	found = bsearch(&at, r->contents, r->ncontents, sizeof(struct content *), by_digest);
	return found != NULL ? *found : NULL;
}
