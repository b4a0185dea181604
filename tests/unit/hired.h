/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hired.h - plays the builder: a workspace is a directory below /tmp, and a file helper is a plain
 * child of the test.
 *
 * There is no jail: the file helper is only confined by its own resolution of names below its
 * directory. Operations are synchronous.
 */
#pragma once

#include "executor/files/file_queue.h"
#include "executor/files/files.h"

struct workspace {
	char path[64];
	int root;
	int (*serve)(int fd, int root);
	int starts;
};

struct outcome {
	struct err e;
	struct files_tree tree;
	struct blob content;
	char type[128];
};

/* Shortens the timeouts of the file queue. */
extern bool hired_hurry;
/* The builder's error for a file helper that failed. */
extern struct err hired_died;
/* File helpers that have not ended. */
extern int hired_living;

int hired_setup(void **state);    /* *state: a new struct workspace */
int hired_teardown(void **state); /* waits for its file helpers */
void hired_make_file(struct workspace *, const char *path, const char *text);

struct outcome hired_list(struct workspace *, size_t limit, uint64_t hash_limit);
struct outcome hired_read(struct workspace *, const char *path, uint64_t limit);
/* The total size is stored in piece. */
struct outcome hired_read_piece(struct workspace *, const char *path, struct files_piece *piece);
struct outcome hired_type(struct workspace *, const char *path);
struct err hired_append(struct workspace *, const char *path, const char *text, uint64_t offset);
struct err hired_write(struct workspace *, const char *path, const char *text, bool overwrite);
/* For other operations: the callback, and a wait until it was called.  self: an outcome. */
void hired_done(void *self, const struct err *);
void hired_wait(void);
void hired_wait_ms(int64_t ms);

void hired_expect(const struct err *, enum err_code, const char *says);
