/* SPDX-License-Identifier: Apache-2.0 */
/* file_helper.h - the process in a box of its own that reads and writes files of a workspace. */
#pragma once

#include "common/base/err.h"

struct builder_request;
struct workspace;

/*
 * Starts a file helper on the workspace.  *channel is the caller's end of a SOCK_SEQPACKET pair,
 * O_CLOEXEC and non-blocking, for messages of at most 64 KiB.  The file helper ends when it is
 * closed.
 * ended: exactly once; e NULL if the file helper returned 0.
 */
struct builder_request *file_helper_start(struct workspace *, int *channel,
    void (*ended)(void *self, const struct err *e), void *self, struct err *);
