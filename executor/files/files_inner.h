/* SPDX-License-Identifier: Apache-2.0 */
/* files_inner.h - functions shared by the sources of files.h; for no other file. */
#pragma once

#include "executor/files/file_queue.h"

#include "common/base/blob.h"

/* Sends a command with a path (NULL: none) and a tail: 1: sent; 0: no room now; -1 with *e. */
int files_send(struct operation *, struct file_frame_head, const char *path, const void *tail,
    size_t size, struct err *e);
/* Sends content from *at and advances *at: 1: all is sent; 0: no room now; -1. */
int files_send_content(struct operation *, const struct blob *content, size_t *at, struct err *e);
bool files_failed(const struct err *e);
/* Returns -1 with the error of a file helper that sent an invalid frame. */
int files_nonsense(struct err *e);
