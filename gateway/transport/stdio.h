/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio.h - the one client on the standard streams: a message a line.
 *
 * Reads and writes never wait: streams may be pipes, sockets, terminals or files.  While the client
 * does not read its answers, it is not read from either.
 */
#pragma once

#include "common/base/err.h"

/* Before the jail: makes both streams non-blocking without touching what others share of them. */
int stdio_prepare(const char *principal, const char *namespace, struct err *);
/* With the loop: serves until the client has gone, then ends the daemon. */
int stdio_start(struct err *);
/* Answers what is still open, as far as the client takes it without waiting. */
void stdio_stop(void);
