/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shelf.h - the catalog in memory of one principal in one namespace: contents, how many snapshots
 * need each, and the snapshots in order of time.  Only the loop uses it.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/hash.h"
#include "common/table/schema.h"
#include "snapshotd/manifest.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct options;

struct content {
	char digest[HASH_HEX]; /* first: the key of the tree */
	uint64_t size;
	bool here;             /* on the disk, and intact as far as known */
	bool idle;             /* in the idle list: no snapshot needs it */
	unsigned needed;       /* snapshots that need it */
	unsigned busy;         /* calls that read or write it now */
	int64_t held_until_ms; /* on the clock of loop_now_ms(): an offer relies on it */
	TAILQ_ENTRY(content) link;
};

/* A snapshot.  If its manifest is broken, only the id is set. */
struct record {
	char id[37];
	bool broken;
	bool hidden; /* not yet durable, or being removed */
	char *space, *session_id;
	struct snapshot about;
	uint64_t manifest_bytes;
	struct content **contents; /* by digest, without duplicates */
	size_t ncontents;
};

struct shelf {
	char owner[HASH_HEX];                /* first: the key of the table */
	void *contents;                      /* a tree of tsearch(3) */
	TAILQ_HEAD(idle_list, content) idle; /* by expiry time */
	struct record **records;             /* by time; broken ones first */
	size_t nrecords, room;
	uint64_t bytes; /* bytes that count against the limits */
	struct shelf *next;
};

/* The owner of a principal and a namespace: 64 digits.  "" is a namespace of its own. */
void shelf_owner(const char *principal, const char *space, char owner[HASH_HEX]);
/* shelf_find: NULL if there is none. shelf_make: creates it; NULL with *e. */
struct shelf *shelf_find(const char *principal, const char *space);
struct shelf *shelf_make(const char *principal, const char *space, struct err *);
/* At the start: the catalog of an owner found on the disk. */
struct shelf *shelf_of_owner(const char *owner, struct err *);
struct shelf *shelf_first(void);
/* After the start has shown everything: holds every content as if it had just been offered, and
 * forever if a broken manifest may have named it. */
void shelf_settle(struct shelf *);

struct content *shelf_content(const struct shelf *, const char *digest);
/* Adds a content that is not on the disk yet, and counts its size. limit_exceeded names the limit;
 * limits NULL: unlimited. */
struct content *shelf_add_content(
    struct shelf *, const char *digest, uint64_t size, const struct options *, struct err *);
/* The content must be idle and not busy. */
void shelf_remove_content(struct shelf *, struct content *);
/* For offers and puts: keeps the content for the hold time. */
void shelf_hold(struct shelf *, struct content *);
/* The size that was put differs from the size that was offered. */
void shelf_set_size(struct shelf *, struct content *, uint64_t size);
/* The next idle content that may be removed, or NULL. */
struct content *shelf_expired(const struct shelf *);

/* The visible record of that id in that namespace; NULL with not_found. */
struct record *shelf_record(const struct shelf *, const char *id, const char *space, struct err *);
/*
 * Adds the record of a manifest and takes its snapshot and names.  Its contents are needed from now
 * on.  With limits: not_found if a content is missing or has another size, limit_exceeded.  Without
 * limits (NULL): a missing content is added, and found broken when it is read.
 */
struct record *shelf_add_record(struct shelf *, struct manifest *, uint64_t manifest_bytes,
    const struct options *, struct err *);
struct record *shelf_add_broken(struct shelf *, const char *id, struct err *);
void shelf_remove_record(struct shelf *, struct record *);
/* The content of that digest if the snapshot has it, or NULL. */
struct content *shelf_record_content(const struct record *, const char *digest);
