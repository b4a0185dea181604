/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shelf.h - what the store holds of one principal in one name space, in memory: contents, how many
 * snapshots need each, and the snapshots in order of time.  Of the loop alone.
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
	char digest[HASH_HEX]; /* first: what it is found by */
	uint64_t size;
	bool here;             /* on the disk, and whole as far as is known */
	bool idle;             /* in the shelf's list: no snapshot needs it */
	unsigned needed;       /* by so many snapshots */
	unsigned busy;         /* by so many calls that read or write it just now */
	int64_t held_until_ms; /* on loop_now_ms()'s clock: an offer relies on it */
	TAILQ_ENTRY(content) link;
};

/* A snapshot, or one whose manifest is broken: then there is nothing but its id. */
struct record {
	char id[37];
	bool broken;
	bool hidden; /* not yet durable, or on its way out */
	char *space, *session_id;
	struct snapshot about;
	uint64_t manifest_bytes;
	struct content **contents; /* by digest, each once */
	size_t ncontents;
};

struct shelf {
	char owner[HASH_HEX];                /* first: what it is found by */
	void *contents;                      /* a tree of tsearch(3) */
	TAILQ_HEAD(idle_list, content) idle; /* those that may go first before those held longest */
	struct record **records;             /* by time; broken ones first */
	size_t nrecords, room;
	uint64_t bytes; /* what counts against the limits */
	struct shelf *next;
};

/* Whose a shelf is: 64 digits of the principal and the name space, "" being one of its own. */
void shelf_owner(const char *principal, const char *space, char owner[HASH_HEX]);
/* The owner's, NULL where there is none; and made where there is none, NULL with *e. */
struct shelf *shelf_find(const char *principal, const char *space);
struct shelf *shelf_make(const char *principal, const char *space, struct err *);
/* For the start: the shelf of an owner that the disk shows. */
struct shelf *shelf_of_owner(const char *owner, struct err *);
struct shelf *shelf_first(void);
/* After the start has shown all: every content is held as if it had been offered now, and for ever
 * if a manifest is broken that may have named it. */
void shelf_settle(struct shelf *);

struct content *shelf_content(const struct shelf *, const char *digest);
/* Not here yet; its size is counted.  limit_exceeded names the limit; limits NULL: none. */
struct content *shelf_add_content(
    struct shelf *, const char *digest, uint64_t size, const struct options *, struct err *);
/* It is idle and not busy. */
void shelf_remove_content(struct shelf *, struct content *);
/* For offers and puts: nobody removes it for so long. */
void shelf_hold(struct shelf *, struct content *);
/* What was put is not what was announced. */
void shelf_set_size(struct shelf *, struct content *, uint64_t size);
/* The idle content that may go, or NULL. */
struct content *shelf_expired(const struct shelf *);

/* The one of that id in that name space, NULL with not_found; not one that is hidden.
 */
struct record *shelf_record(const struct shelf *, const char *id, const char *space, struct err *);
/*
 * The record of a manifest, whose snapshot and names are taken; its contents are needed from now
 * on.  limits: not_found if one is not here with its size, limit_exceeded.  Limits NULL: what is
 * not here is added, and found broken when it is asked for.
 */
struct record *shelf_add_record(struct shelf *, struct manifest *, uint64_t manifest_bytes,
    const struct options *, struct err *);
struct record *shelf_add_broken(struct shelf *, const char *id, struct err *);
void shelf_remove_record(struct shelf *, struct record *);
/* The content of that digest if the snapshot has it, or NULL. */
struct content *shelf_record_content(const struct record *, const char *digest);
