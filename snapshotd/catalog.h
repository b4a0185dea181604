/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog.h - the catalog in memory of one principal in one namespace: contents, how many snapshots
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
	char *session_id;
	struct snapshot about;
	uint64_t manifest_bytes;
	struct content **contents; /* by digest, without duplicates */
	size_t ncontents;
};

struct catalog {
	char owner[HASH_HEX];                /* first: the key of the table */
	void *contents;                      /* a tree of tsearch(3) */
	TAILQ_HEAD(idle_list, content) idle; /* by expiry time */
	struct record **records;             /* by time; broken ones first */
	size_t nrecords, room;
	uint64_t bytes; /* bytes that count against the limits */
	struct catalog *next;
};

/* The name of an owner's directory: 64 digits. It never changes, because it is on the disk. */
void catalog_name(const struct owner *, char name[HASH_HEX]);
/* catalog_find: NULL if there is none. catalog_make: creates it; NULL with *e. */
struct catalog *catalog_find(const struct owner *);
struct catalog *catalog_make(const struct owner *, struct err *);
/* At the start: the catalog of an owner found on the disk. */
struct catalog *catalog_of_owner(const char *owner, struct err *);
struct catalog *catalog_first(void);
/* After the start has shown everything: holds every content as if it had just been offered, and
 * forever if a broken manifest may have named it. */
void catalog_settle(struct catalog *);

struct content *catalog_content(const struct catalog *, const char *digest);
/* Adds a content that is not on the disk yet, and counts its size. limit_exceeded names the limit;
 * limits NULL: unlimited. */
struct content *catalog_add_content(
    struct catalog *, const char *digest, uint64_t size, const struct options *, struct err *);
/* The content must be idle and not busy. */
void catalog_remove_content(struct catalog *, struct content *);
/* For offers and puts: keeps the content for the hold time. */
void catalog_hold(struct catalog *, struct content *);
/* The size that was put differs from the size that was offered. */
void catalog_set_size(struct catalog *, struct content *, uint64_t size);
/* The next idle content that may be removed, or NULL. */
struct content *catalog_expired(const struct catalog *);

/* The visible record of that id; NULL with not_found. */
struct record *catalog_record(const struct catalog *, const char *id, struct err *);
/*
 * Adds the record of a manifest and takes its snapshot and names.  Its contents are needed from now
 * on.  With limits: not_found if a content is missing or has another size, limit_exceeded.  Without
 * limits (NULL): a missing content is added, and found broken when it is read.
 */
struct record *catalog_add_record(struct catalog *, struct manifest *, uint64_t manifest_bytes,
    const struct options *, struct err *);
struct record *catalog_add_broken(struct catalog *, const char *id, struct err *);
void catalog_remove_record(struct catalog *, struct record *);
/* The content of that digest if the snapshot has it, or NULL. */
struct content *catalog_record_content(const struct record *, const char *digest);
