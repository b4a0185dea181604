/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content.c - stores and returns contents; trusts no digest that it has not computed itself.
 *
 * The reply to an offer depends only on the principal's own snapshots and puts.  It cannot be used
 * to find out whether another principal has a content.
 */
#include "snapshotd/content.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/work.h"
#include "snapshotd/options.h"
#include "snapshotd/store.h"

#include <inttypes.h>
#include <string.h>

int
content_check_principal(const struct call *call, struct err *e)
{
	return *call->owner.principal != 0
	           ? 0
	           : err_set(e, ERR_denied, "only an authenticated caller can have snapshots");
}

static int
check_digest(const char *field, const char *digest, struct err *e)
{
	return hash_is_hex(digest) ? 0
	                           : err_set(e, ERR_invalid_argument,
					 "%s: not 64 lower-case hexadecimal digits", field);
}

int
content_on_offer(struct call *call, void *request, struct err *e)
{
	const struct snapshot_offer *ask = request;
	struct catalog *catalog = catalog_find(&call->owner);
	struct digests missing = { 0 };

	if (content_check_principal(call, e) < 0)
		return -1;
	for (size_t i = 0; i < ask->sha256.count; i++)
		if (check_digest("sha256", ask->sha256.items[i], e) < 0)
			return -1;
	/* Borrowed: the request's own texts.  No more can be missing than were offered. */
	missing.sha256.items = calloc(ask->sha256.count + 1, sizeof(char *));
	if (missing.sha256.items == NULL)
		return err_sys(e, "offer");
	for (size_t i = 0; i < ask->sha256.count; i++) {
		char *digest = ask->sha256.items[i];
		struct content *c = catalog != NULL ? catalog_content(catalog, digest) : NULL;

		if (c != NULL && c->here)
			catalog_hold(catalog, c);
		else
			missing.sha256.items[missing.sha256.count++] = digest;
	}
	call_reply(call, &missing);
	free(missing.sha256.items);
	return 0;
}

/* A content that a thread reads or writes for a call. */
struct errand {
	struct work work;
	struct call *call;
	struct catalog *catalog;
	struct content *content;
	struct blob bytes;
	struct err error;
};

static int
give(struct errand *errand, void (*run)(struct work *), void (*done)(struct work *))
{
	errand->work.run = run;
	errand->work.done = done;
	errand->content->busy++;
	work_give(&errand->work);
	return 0;
}

static struct errand *
errand_new(struct call *call, struct catalog *catalog, struct content *content, struct err *e)
{
	struct errand *errand = calloc(1, sizeof *errand);

	if (errand == NULL)
		err_sys(e, "content");
	else
		*errand = (struct errand){ .call = call, .catalog = catalog, .content = content };
	return errand;
}

/* ---- put ---- */

static void
put_run(struct work *work)
{
	struct errand *p = (struct errand *)work;

	store_put_content(p->catalog->owner, p->content->digest, &p->bytes, &p->error);
}

/* A content whose put failed no longer counts. */
static void
forget(struct catalog *catalog, struct content *c)
{
	if (!c->here && c->idle && c->busy == 0)
		catalog_remove_content(catalog, c);
}

static void
put_done(struct work *work)
{
	struct errand *p = (struct errand *)work;
	struct content *c = p->content;
	struct nothing reply = { .ok = true };

	c->busy--;
	if (p->error.code == ERR_none) {
		c->here = true;
		if (c->size != p->bytes.size)
			catalog_set_size(p->catalog, c, p->bytes.size);
		catalog_hold(p->catalog, c);
		call_reply(p->call, &reply);
	} else {
		forget(p->catalog, c);
		call_fail(p->call, &p->error);
	}
	blob_clear(&p->bytes);
	free(p);
}

int
content_check_disk(uint64_t size, struct err *e)
{
	uint64_t room;

	if (store_room(&room, e) < 0)
		return -1;
	if (room < size || room - size < options.keep_free_bytes)
		return err_set(e, ERR_limit_exceeded,
		    "the disk of the snapshot store is full: the setting keep_free_bytes leaves "
		    "%" PRIu64 " to others; delete snapshots that are not needed",
		    options.keep_free_bytes);
	return 0;
}

int
content_on_put(struct call *call, void *request, struct err *e)
{
	struct snapshot_put *ask = request;
	struct catalog *catalog;
	struct content *c;
	struct errand *p;

	if (content_check_principal(call, e) < 0 || check_digest("sha256", ask->sha256, e) < 0 ||
	    content_check_disk(ask->content.size, e) < 0 ||
	    (catalog = catalog_make(&call->owner, e)) == NULL)
		return -1;
	c = catalog_content(catalog, ask->sha256);
	if (c == NULL)
		c = catalog_add_content(catalog, ask->sha256, ask->content.size, &options, e);
	if (c == NULL)
		return -1;
	if ((p = errand_new(call, catalog, c, e)) == NULL) {
		forget(catalog, c);
		return -1;
	}
	p->bytes = ask->content;
	ask->content = (struct blob){ 0 };
	return give(p, put_run, put_done);
}

/* ---- get ---- */

static void
get_run(struct work *work)
{
	struct errand *g = (struct errand *)work;

	store_get_content(
	    g->catalog->owner, g->content->digest, g->content->size, &g->bytes, &g->error);
}

static void
get_done(struct work *work)
{
	struct errand *g = (struct errand *)work;
	struct snapshot_content reply = { .content = g->bytes };

	g->content->busy--;
	if (g->error.code == ERR_none)
		call_reply(g->call, &reply);
	else
		call_fail(g->call, &g->error);
	if (g->error.code == ERR_snapshot_corrupt) {
		log_error("a content of a snapshot is corrupt", LOG_S("owner", g->catalog->owner),
		    LOG_S("sha256", g->content->digest), LOG_E(&g->error));
		/* The next offer of this content reports it missing; a new put repairs every
		 * snapshot with it. */
		g->content->here = false;
	}
	blob_clear(&reply.content);
	free(g);
}

int
content_on_get(struct call *call, void *request, struct err *e)
{
	const struct snapshot_get *ask = request;
	struct catalog *catalog = catalog_find(&call->owner);
	struct record *record;
	struct content *c;
	struct errand *g;

	if (content_check_principal(call, e) < 0 || check_digest("sha256", ask->sha256, e) < 0 ||
	    (record = catalog_record(catalog, ask->snapshot_id, e)) == NULL)
		return -1;
	if (record->broken)
		return err_set(e, ERR_snapshot_corrupt, "the snapshot's manifest is broken");
	c = catalog_record_content(record, ask->sha256);
	if (c == NULL)
		return err_set(e, ERR_not_found, "sha256: the snapshot has no such content");
	if ((g = errand_new(call, catalog, c, e)) == NULL)
		return -1;
	return give(g, get_run, get_done);
}
