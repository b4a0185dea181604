/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio.h - the single client on the standard streams, one message per line.
 *
 * Reads and writes never block; streams may be pipes, sockets, terminals or files.  While the
 * client does not read its replies, its requests are not read either.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/owner.h"

/* Call before entering the jail; the client is that owner.  Makes both streams non-blocking without
 * changing file descriptions that other processes share. */
int stdio_prepare(const struct owner *, struct err *);
/* Serves in the loop until the client disconnects, then ends the daemon. */
int stdio_start(struct err *);
/* Answers open requests, as far as the client reads without blocking. */
void stdio_stop(void);
