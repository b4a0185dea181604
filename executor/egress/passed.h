/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passed.h - sockets that the executor passed, until the request of their run comes.
 *
 * Runs begin beside each other, so the sockets of several can wait.  Those of a run whose request
 * never comes are closed after PASSED_MS, or when PASSED newer ones wait.
 */
#pragma once

#include "common/base/err.h"

#include <stddef.h>

enum {
	PASSED = 64,
	PASSED_MS = 10000,
};

/* Opens the endpoint.  not_found: the executor is on another host. */
int passed_open(struct err *);
void passed_close(void);
/* Moves the sockets of that run to fds, which has room for HANDOVER_FDS; returns their number, 0 if
 * there are none.  The caller owns them. */
size_t passed_take(const char *run, int *fds);
