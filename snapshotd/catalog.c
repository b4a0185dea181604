/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog.c - the catalog: tables of the store, so that no call has to search the disk.
 *
 * Trusts store.c to show what is on the disk.  Never returns a content as expired that a snapshot
 * needs, an offer relies on, or a call uses.
 */
#include "snapshotd/catalog.h"

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

static struct catalog *catalogs;
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
charge(struct catalog *catalog, uint64_t size, const struct options *limits, struct err *e)
{
	if (limits != NULL && catalog->bytes + cost(size) > limits->max_principal_bytes)
		return err_set(e, ERR_limit_exceeded,
		    "your snapshots hold %" PRIu64 " bytes, and the setting "
		    "max_principal_bytes allows %" PRIu64 "; delete some",
		    catalog->bytes, limits->max_principal_bytes);
	if (limits != NULL && store_bytes + cost(size) > limits->max_store_bytes)
		return err_set(e, ERR_limit_exceeded,
		    "the snapshot store is full: the setting max_store_bytes allows %" PRIu64,
		    limits->max_store_bytes);
	catalog->bytes += cost(size);
	store_bytes += cost(size);
	return 0;
}

static void
credit(struct catalog *catalog, uint64_t size)
{
	catalog->bytes -= cost(size);
	store_bytes -= cost(size);
}

/* ---- owners ---- */

static struct catalog *
of_owner(const char *owner)
{
	struct catalog *catalog = catalogs;

	while (catalog != NULL && strcmp(catalog->owner, owner) != 0)
		catalog = catalog->next;
	return catalog;
}

struct catalog *
catalog_of_owner(const char *owner, struct err *e)
{
	struct catalog *catalog = of_owner(owner);

	if (catalog != NULL)
		return catalog;
	catalog = calloc(1, sizeof *catalog);
	if (catalog == NULL) {
		err_sys(e, "catalog");
		return NULL;
	}
	memcpy(catalog->owner, owner, sizeof catalog->owner);
	TAILQ_INIT(&catalog->idle);
	catalog->next = catalogs;
	return catalogs = catalog;
}

void
catalog_name(const struct owner *owner, char name[HASH_HEX])
{
	struct hash hash;

	hash_begin(&hash);
	hash_add(&hash, owner->principal, strlen(owner->principal));
	if (*owner->namespace != '\0') {
		hash_add(&hash, "", 1); /* no principal contains a zero byte */
		hash_add(&hash, owner->namespace, strlen(owner->namespace));
	}
	hash_end_hex(&hash, name);
}

struct catalog *
catalog_find(const struct owner *owner)
{
	char name[HASH_HEX];

	catalog_name(owner, name);
	return of_owner(name);
}

struct catalog *
catalog_make(const struct owner *owner, struct err *e)
{
	char name[HASH_HEX];
	struct catalog *catalog;

	catalog_name(owner, name);
	catalog = of_owner(name);
	if (catalog != NULL)
		return catalog;
	return store_add_owner(name, e) < 0 ? NULL : catalog_of_owner(name, e);
}

struct catalog *
catalog_first(void)
{
	return catalogs;
}

/* ---- contents ---- */

struct content *
catalog_content(const struct catalog *catalog, const char *digest)
{
	struct content **found = tfind(digest, &catalog->contents, by_name);

	return found != NULL ? *found : NULL;
}

/* Inserts it into the idle list, which is ordered by held_until_ms. */
static void
set_idle(struct catalog *catalog, struct content *c)
{
	struct content *before = TAILQ_LAST(&catalog->idle, idle_list);

	while (before != NULL && before->held_until_ms > c->held_until_ms)
		before = TAILQ_PREV(before, idle_list, link);
	if (before != NULL)
		TAILQ_INSERT_AFTER(&catalog->idle, before, c, link);
	else
		TAILQ_INSERT_HEAD(&catalog->idle, c, link);
	c->idle = true;
}

static void
set_needed(struct catalog *catalog, struct content *c)
{
	if (c->idle)
		TAILQ_REMOVE(&catalog->idle, c, link);
	c->idle = false;
}

struct content *
catalog_add_content(struct catalog *catalog, const char *digest, uint64_t size,
    const struct options *limits, struct err *e)
{
	struct content *c;

	if (charge(catalog, size, limits, e) < 0)
		return NULL;
	c = calloc(1, sizeof *c);
	if (c != NULL) {
		memcpy(c->digest, digest, sizeof c->digest);
		c->size = size;
		if (tsearch(c, &catalog->contents, by_name) != NULL) {
			set_idle(catalog, c);
			return c;
		}
	}
	free(c);
	credit(catalog, size);
	err_sys(e, "content");
	return NULL;
}

void
catalog_remove_content(struct catalog *catalog, struct content *c)
{
	must(c->idle && c->busy == 0);
	set_needed(catalog, c);
	tdelete(c, &catalog->contents, by_name);
	credit(catalog, c->size);
	free(c);
}

static int64_t
held_from_now(void)
{
	return loop_now_ms() + (int64_t)options.hold_seconds * 1000;
}

static void
hold_until(struct catalog *catalog, struct content *c, int64_t ms)
{
	c->held_until_ms = ms;
	if (c->idle) {
		set_needed(catalog, c);
		set_idle(catalog, c);
	}
}

void
catalog_hold(struct catalog *catalog, struct content *c)
{
	if (c->held_until_ms != FOR_EVER)
		hold_until(catalog, c, held_from_now());
}

void
catalog_set_size(struct catalog *catalog, struct content *c, uint64_t size)
{
	struct err e;

	credit(catalog, c->size);
	c->size = size;
	must(charge(catalog, size, NULL, &e) == 0);
}

struct content *
catalog_expired(const struct catalog *catalog)
{
	struct content *c = TAILQ_FIRST(&catalog->idle);

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
catalog_settle(struct catalog *catalog)
{
	bool broken = catalog->nrecords > 0 && catalog->records[0]->broken;
	int64_t until = broken ? FOR_EVER : held_from_now();

	/* All have the same time, so the list stays in order. */
	twalk_r(catalog->contents, hold_as_offered, &until);
}

/* ---- records ---- */

static void
need(struct catalog *catalog, struct content *c)
{
	set_needed(catalog, c);
	c->needed++;
}

/* Frees room now, unless another offer relies on the content. */
static void
need_no_more(struct catalog *catalog, struct content *c)
{
	if (--c->needed == 0)
		set_idle(catalog, c);
}

struct record *
catalog_record(const struct catalog *catalog, const char *id, struct err *e)
{
	for (size_t i = 0; catalog != NULL && i < catalog->nrecords; i++) {
		struct record *r = catalog->records[i];

		if (strcmp(r->id, id) == 0 && !r->hidden)
			return r;
	}
	err_set(e, ERR_not_found, "snapshot_id: you have no such snapshot");
	return NULL;
}

static void
free_record(struct record *r)
{
	message_clear(MSG_snapshot, &r->about);
	free(r->session_id);
	free(r->contents);
	free(r);
}

static int
make_room(struct catalog *catalog, struct err *e)
{
	size_t room = catalog->room * 2 + 16;
	struct record **grown;

	if (catalog->nrecords < catalog->room)
		return 0;
	grown = reallocarray(catalog->records, room, sizeof(void *));
	if (grown == NULL)
		return err_sys(e, "snapshots");
	catalog->records = grown;
	catalog->room = room;
	return 0;
}

/* By creation time, which is text that sorts.  Broken ones have none and come first. */
static void
insert(struct catalog *catalog, struct record *r, const char *time)
{
	size_t at = catalog->nrecords++;

	for (; at > 0; at--) {
		const struct record *before = catalog->records[at - 1];

		if (before->broken || strcmp(before->about.created_at, time) <= 0)
			break;
		catalog->records[at] = catalog->records[at - 1];
	}
	catalog->records[at] = r;
}

static int
by_digest(const void *a, const void *b)
{
	const struct content *const *x = a, *const *y = b;

	return strcmp((*x)->digest, (*y)->digest);
}

/* The content that an entry needs.  At the start, a missing content is added. */
static struct content *
content_of(struct catalog *catalog, const struct tree_entry *t, const struct options *limits,
    struct err *e)
{
	struct content *c = catalog_content(catalog, t->sha256);

	if (c == NULL && limits == NULL)
		return catalog_add_content(catalog, t->sha256, t->size, NULL, e);
	if (c != NULL && (limits == NULL || (c->here && c->size == t->size)))
		return c;
	err_set(e, ERR_not_found,
	    "entries: the content of %.120s is not in the store; offer and put it first", t->path);
	return NULL;
}

static int
find_contents(struct catalog *catalog, struct record *r, const struct snapshot_manifest *tree,
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
		if ((r->contents[n] = content_of(catalog, t, limits, e)) == NULL)
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
catalog_add_record(struct catalog *catalog, struct manifest *m, uint64_t manifest_bytes,
    const struct options *limits, struct err *e)
{
	struct record *r = calloc(1, sizeof *r);

	if (r == NULL) {
		err_sys(e, "snapshot");
		return NULL;
	}
	strncpy(r->id, m->tree.snapshot->snapshot_id, sizeof r->id - 1);
	r->manifest_bytes = manifest_bytes;
	if (make_room(catalog, e) < 0 || find_contents(catalog, r, &m->tree, limits, e) < 0 ||
	    charge(catalog, manifest_bytes, limits, e) < 0) {
		free_record(r);
		return NULL;
	}
	for (size_t i = 0; i < r->ncontents; i++)
		need(catalog, r->contents[i]);
	r->session_id = take_ptr(m->session_id);
	r->about = *m->tree.snapshot;
	*m->tree.snapshot = (struct snapshot){ 0 };
	insert(catalog, r, r->about.created_at);
	return r;
}

struct record *
catalog_add_broken(struct catalog *catalog, const char *id, struct err *e)
{
	struct record *r = calloc(1, sizeof *r);

	if (r == NULL || make_room(catalog, e) < 0 || charge(catalog, 0, NULL, e) < 0) {
		if (r == NULL)
			err_sys(e, "snapshot");
		free(r);
		return NULL;
	}
	strncpy(r->id, id, sizeof r->id - 1);
	r->broken = true;
	insert(catalog, r, "");
	return r;
}

void
catalog_remove_record(struct catalog *catalog, struct record *r)
{
	size_t at = 0;

	while (catalog->records[at] != r)
		at++;
	for (catalog->nrecords--; at < catalog->nrecords; at++)
		catalog->records[at] = catalog->records[at + 1];
	for (size_t i = 0; i < r->ncontents; i++)
		need_no_more(catalog, r->contents[i]);
	credit(catalog, r->manifest_bytes);
	free_record(r);
}

struct content *
catalog_record_content(const struct record *r, const char *digest)
{
	struct content key;
	const struct content *at = &key;
	struct content **found;

	memcpy(key.digest, digest, sizeof key.digest);
	found = bsearch(&at, r->contents, r->ncontents, sizeof(struct content *), by_digest);
	return found != NULL ? *found : NULL;
}
