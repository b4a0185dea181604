/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - contents and manifests on the disk, of each owner apart.
 *
 * An owner is the SHA-256 of a principal, so that two principals share nothing, not even the
 * knowledge that both have the same content.  What is written is durable when the function returns,
 * and there wholly or not at all whenever the power goes.  Functions marked * may be called by any
 * thread.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/hash.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stdint.h>

struct store_visitor {
	/* A file that bears a digest's name. */
	int (*content)(const char *owner, const char *digest, uint64_t size, struct err *);
	/* One that bears a snapshot's; file NULL: it was set aside by an earlier start. -1: *e is
	 * why it is set aside. */
	int (*manifest)(const char *owner, const char *id, const struct blob *file, struct err *);
};

/* Below the folder state, which is locked.  Drafts of an earlier life are removed, then everything
 * is shown: contents first, then manifests, owner by owner. */
int store_open(int state, const struct store_visitor *, struct err *);
void store_close(void);

/* Makes the owner's folders. */
int store_add_owner(const char *owner, struct err *);

/* * invalid_argument if it does not have that digest. */
int store_put_content(const char *owner, const char *digest, const struct blob *, struct err *);
/* * snapshot_corrupt if it is not there, or not what its name says. */
int store_get_content(
    const char *owner, const char *digest, uint64_t size, struct blob *, struct err *);
/* Not made durable: what comes back after a power loss is removed again. */
void store_remove_content(const char *owner, const char *digest);

/* * */
int store_put_manifest(const char *owner, const char *id, const struct blob *, struct err *);
/* * snapshot_corrupt if it is not there; its bytes are not judged. */
int store_get_manifest(const char *owner, const char *id, struct blob *, struct err *);
/* * Also one that was set aside. */
int store_remove_manifest(const char *owner, const char *id, struct err *);

/* Bytes that can still be written to the disk. */
int store_room(uint64_t *bytes, struct err *);
