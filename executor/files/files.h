/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - the files of a workspace, without ever resolving a guest's name in this process.
 *
 * Every operation runs in a steward: a process of the builder's in a box of its own, with the box's
 * uid and nothing but the workspace, so that a hostile tree (links, races, a million names) can
 * only hurt itself. Its answers are hostile too, and checked here.  Operations on one workspace run
 * one after another.
 *
 * Paths are relative, with '/'; bytes that are not UTF-8 stand as %XX, and so does '%' (path_
 * functions).
 */
#pragma once

#include "executor/sandbox/box.h"

enum {
	FILES_MAX_PATH = 4096, /* bytes of the real path */
	FILES_MAX_NAME = 255,
};

/*
 * Takes what a client sent ("data/a.csv", "/workspace/a.csv", "/mnt/data/a.csv",
 * "/sandbox/workspace/a.csv") and gives the relative encoded path; of malloc.  path_not_allowed:
 * empty, "..", ".", empty parts, absolute elsewhere, control characters, too long; the text names
 * the field and what is wrong.
 */
char *path_check(const char *field, const char *path, struct err *);

/* Everything in it, parents before children, sorted by path; sha256 of regular files up to
 * hash_limit bytes each. */
struct files_tree {
	struct tree_entry *items;
	size_t count;
	struct texts skipped; /* names that are neither file, folder nor link, and why */
	char *lost;           /* one of these that may have had content, or NULL */
	bool truncated;       /* there are more than `limit` */
};
void files_list(struct workspace *, size_t limit, uint64_t hash_limit,
    void (*done)(void *self, struct files_tree *, const struct err *), void *self);
void files_tree_clear(struct files_tree *);

/* A regular file of at most limit bytes; the blob is the receiver's. */
void files_read(struct workspace *, const char *path, uint64_t limit,
    void (*done)(void *self, struct blob *content, const struct err *), void *self);

/* From offset on: length bytes, or as many as there are; length 0: to the end, at most limit. */
struct files_piece {
	uint64_t offset, length, limit;
	uint64_t total; /* the answer: bytes of the file */
};
/* *piece is the caller's and lives until done. */
void files_read_piece(struct workspace *, const char *path, struct files_piece *piece,
    void (*done)(void *self, struct blob *content, const struct err *), void *self);

/* What the first bytes of a regular file tell: "image/png"; "" where they tell nothing.  The text
 * is the steward's, checked only to have the form of a media type. */
void files_type(struct workspace *, const char *path,
    void (*done)(void *self, const char *type, const struct err *), void *self);

/* Makes parent folders; takes *content.  file_exists without overwrite, disk_full. */
void files_write(struct workspace *, const char *path, struct blob *content, bool overwrite,
    void (*done)(void *self, const struct err *), void *self);

/* Adds to a file that has offset bytes; invalid_argument tells how many it has where these are not
 * so many.  Takes *content. */
void files_append(struct workspace *, const char *path, struct blob *content, uint64_t offset,
    void (*done)(void *self, const struct err *), void *self);

/*
 * Fills a fresh workspace from a snapshot: folders, links, modes and mtimes of all entries.
 * want(self, i) is called when the content of entry i is needed, and is answered, then or later, by
 * files_give().
 */
void files_fill(struct workspace *, const struct tree_entry *entries, size_t count,
    void (*want)(void *self, size_t entry), void (*done)(void *self, const struct err *),
    void *self);
/* Answers want(): the content of that entry, taken; or why there is none. */
void files_give(struct workspace *, struct blob *content, const struct err *why);
