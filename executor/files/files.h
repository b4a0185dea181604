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

#include "executor/files/path.h"
#include "executor/files/tree.h"

struct workspace;

/* The tree of a workspace. */
void files_list(struct workspace *, size_t limit, uint64_t hash_limit,
    void (*done)(void *self, struct files_tree *, const struct err *), void *self);

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
