/* SPDX-License-Identifier: Apache-2.0 */
/* file_helper_process.h - file helpers as the builder sees them: processes with one workspace. */
#pragma once

#include "executor/builder/process.h"

int file_helper_process_open(const struct host *, struct err *);
/* Starts the file helper of an order.  The caller keeps the descriptor of its channel. */
int file_helper_process_order(const struct order *, const int *fds, size_t nfds, struct err *);
