/* SPDX-License-Identifier: Apache-2.0 */
/* files_inner.h - what the files of files.h share; nobody else includes it. */
#pragma once

#include "executor/files/desk.h"
#include "executor/files/files.h"

/* Sends an order with a path (NULL: none) and a tail: 1 sent, 0 no room now, -1 with *e. */
int files_send(struct operation *, struct slip_head, const char *path, const void *tail,
    size_t size, struct err *e);
/* The bytes of a content from *at on, which it moves: 1 all are sent, 0 no room now, -1. */
int files_send_content(struct operation *, const struct blob *content, size_t *at, struct err *e);
bool files_failed(const struct err *e);
/* -1: a steward said what it cannot have meant. */
int files_nonsense(struct err *e);
