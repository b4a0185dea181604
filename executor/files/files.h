/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - operations on files of a workspace.  This process never resolves a guest's name.
 *
 * Every operation runs in a file helper: a process that the builder starts in a box of its own,
 * with the box's uid and nothing but the workspace.  So a hostile tree (links, races, a million
 * names) can only harm itself.  The helper's answers are hostile, too, and are checked here.
 * Operations on one workspace run one after another.
 *
 * Paths are relative, with '/'; bytes that are not UTF-8, and '%', are encoded as %XX (path.h).
 */
#pragma once

#include "executor/sandbox/box.h"

enum {
	FILES_MAX_PATH = 4096, /* bytes of the real path */
	FILES_MAX_NAME = 255,
	FILES_MAX_LEFT_OUT = 100, /* of schema.def */
};

/*
 * Converts a client's path ("data/a.csv", "/workspace/a.csv", "/mnt/data/a.csv",
 * "/sandbox/workspace/a.csv") to the relative encoded path, allocated with malloc.
 * path_not_allowed: empty, "..", ".", empty parts, any other absolute path, control characters, too
 * long; the text names the field and the fault.
 */
char *path_check(const char *field, const char *path, struct err *);

/* All entries of a workspace, parents before children, sorted by path; with the SHA-256 of regular
 * files of at most hash_limit bytes. */
struct files_tree {
	struct tree_entry *items;
	size_t count;
	struct texts skipped; /* names that are neither file, directory nor link, and why */
	char *lost;           /* one of these that may have had content, or NULL */
	bool barred;          /* lost: its permissions deny access */
	bool truncated;       /* there are more than `limit` entries */
	struct {
		struct left_out *items;
		size_t count;
	} left_out;        /* the first FILES_MAX_LEFT_OUT of the FIFOs, sockets and devices */
	size_t nleft_out;  /* all of them */
	size_t attributed; /* entries that have extended attributes */
};
void files_list(struct workspace *, size_t limit, uint64_t hash_limit,
    void (*done)(void *self, struct files_tree *, const struct err *), void *self);
void files_tree_clear(struct files_tree *);

/* Reads a regular file of at most limit bytes; done() owns the blob. */
void files_read(struct workspace *, const char *path, uint64_t limit,
    void (*done)(void *self, struct blob *content, const struct err *), void *self);

/* A range of a file: length bytes from offset, or fewer at the end of the file; length 0: up to the
 * end, at most limit. */
struct files_piece {
	uint64_t offset, length, limit;
	uint64_t total; /* set by the answer: size of the file */
};
/* *piece belongs to the caller and must live until done. */
void files_read_piece(struct workspace *, const char *path, struct files_piece *piece,
    void (*done)(void *self, struct blob *content, const struct err *), void *self);

/* The media type of a regular file by its first bytes: "image/png"; "" if unknown.  The text comes
 * from the file helper; only its form is checked. */
void files_type(struct workspace *, const char *path,
    void (*done)(void *self, const char *type, const struct err *), void *self);

/* Writes a file and makes its parent directories; takes *content.  file_exists without overwrite,
 * disk_full. */
void files_write(struct workspace *, const char *path, struct blob *content, bool overwrite,
    void (*done)(void *self, const struct err *), void *self);

/* Appends to a file of exactly offset bytes; takes *content.  invalid_argument: the file has
 * another size, which the text gives. */
void files_append(struct workspace *, const char *path, struct blob *content, uint64_t offset,
    void (*done)(void *self, const struct err *), void *self);

/*
 * Fills a fresh workspace from a snapshot: directories, links, modes and mtimes of all entries.
 * want(self, i) is called when the content of entry i is needed; the caller answers, immediately or
 * later, with files_give().
 */
void files_fill(struct workspace *, const struct tree_entry *entries, size_t count,
    void (*want)(void *self, size_t entry), void (*done)(void *self, const struct err *),
    void *self);
/* Answers want(): takes the content of that entry, or the reason why there is none. */
void files_give(struct workspace *, struct blob *content, const struct err *why);
