/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - fills the catalog from the disk; trusts only a manifest with the right digest. */
#include "snapshotd/load.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "snapshotd/catalog.h"
#include "snapshotd/store.h"

#include <string.h>

static int
on_content(const char *owner, const char *digest, uint64_t size, struct err *e)
{
	struct catalog *catalog = catalog_of_owner(owner, e);
	struct content *c =
	    catalog != NULL ? catalog_add_content(catalog, digest, size, NULL, e) : NULL;

	if (c == NULL)
		return -1;
	c->here = true;
	return 0;
}

/* Is the file in the place that its own texts name? */
static int
check_place(const struct manifest *m, const char *owner, const char *id, struct err *e)
{
	char name[HASH_HEX];

	catalog_name(&m->owner, name);
	if (strcmp(name, owner) != 0 || strcmp(m->tree.snapshot->snapshot_id, id) != 0)
		return err_set(
		    e, ERR_snapshot_corrupt, "the snapshot's manifest belongs to another owner");
	return 0;
}

static int
on_manifest(const char *owner, const char *id, const struct blob *file, struct err *e)
{
	struct catalog *catalog = catalog_of_owner(owner, e);
	struct manifest m = { 0 };
	struct record *r = NULL;

	if (catalog == NULL)
		return -1;
	if (file == NULL)
		return catalog_add_broken(catalog, id, e) != NULL ? 0 : -1;
	if (manifest_read(file, &m, e) == 0 && check_place(&m, owner, id, e) == 0)
		r = catalog_add_record(catalog, &m, file->size, NULL, e);
	manifest_clear(&m);
	for (size_t i = 0; r != NULL && i < r->ncontents; i++)
		if (!r->contents[i]->here)
			log_error("a content of a snapshot is missing", LOG_S("snapshot_id", id),
			    LOG_S("owner", owner), LOG_S("sha256", r->contents[i]->digest));
	return r != NULL ? 0 : -1;
}

int
load_store(int state, struct err *e)
{
	static const struct store_visitor visitor = { on_content, on_manifest };

	if (store_open(state, &visitor, e) < 0)
		return -1;
	for (struct catalog *catalog = catalog_first(); catalog != NULL; catalog = catalog->next)
		catalog_settle(catalog);
	return 0;
}
