/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - contents and manifests on the disk, separate for each owner.
 *
 * An owner is the SHA-256 of a principal and its namespace.  Two owners share nothing, not even the
 * knowledge that both have the same content.  When a function returns, what it wrote is durable.
 * After a power loss at any moment, a file is there completely or not at all.  Functions marked *
 * may be called by any thread.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/hash.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stdint.h>

struct store_visitor {
	/* A file that is named by a digest. */
	int (*content)(const char *owner, const char *digest, uint64_t size, struct err *);
	/* A file that is named by a snapshot id. file NULL: an earlier start set it aside.
	 * Returning -1 sets it aside; *e says why. */
	int (*manifest)(const char *owner, const char *id, const struct blob *file, struct err *);
};

/* Opens the store below the directory state and locks it.  Removes drafts of an earlier process,
 * then shows everything: owner by owner, contents before manifests. */
int store_open(int state, const struct store_visitor *, struct err *);
void store_close(void);

/* Makes the owner's directories. */
int store_add_owner(const char *owner, struct err *);

/* * invalid_argument if the content does not have that digest. */
int store_put_content(const char *owner, const char *digest, const struct blob *, struct err *);
/* * snapshot_corrupt if it is missing or does not match its name. */
int store_get_content(
    const char *owner, const char *digest, uint64_t size, struct blob *, struct err *);
/* Not durable: a content that returns after a power loss is removed again. */
void store_remove_content(const char *owner, const char *digest);

/* * */
int store_put_manifest(const char *owner, const char *id, const struct blob *, struct err *);
/* * snapshot_corrupt if it is missing; its bytes are not checked. */
int store_get_manifest(const char *owner, const char *id, struct blob *, struct err *);
/* * Also removes a manifest that was set aside. */
int store_remove_manifest(const char *owner, const char *id, struct err *);

/*
 * Puts an error of a full or failing disk into words; returns -1.  None of these is the caller's
 * fault.  The caller gets the possible remedy and no path of the store: deleting snapshots makes
 * room on a full disk, and descriptors become free again.
 */
int store_explain(struct err *);
/* Bytes that can still be written to the disk. */
int store_room(uint64_t *bytes, struct err *);
