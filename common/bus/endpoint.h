/* SPDX-License-Identifier: Apache-2.0 */
/* endpoint.h - the endpoints of an edge: directories, their owners, and addresses. */
#pragma once

#include "common/base/err.h"
#include "common/bus/config.h"

enum {
	ENDPOINT_BYTES = 256, /* of an address */
};

/* A word for a file name: letters, digits, '_', '-', '.'; not beginning with a dot. */
bool endpoint_is_name(const char *);

/* Makes the directory <run>/<edge>, in which the server binds. The caller owns the descriptor. Call
 * before the jail. */
int endpoint_directory(const struct bus_config *, const struct edge *, struct err *);
/* The uid of a peer's process. Call before the jail. */
int endpoint_uid(const struct bus_config *, enum peer, uid_t *, struct err *);
/* "ipc://<run>/<edge>/<instance>" */
int endpoint_ipc(const char *run, const struct edge *, const char *instance,
    char out[ENDPOINT_BYTES], struct err *);
/* Appends the endpoints in connect[to] to *out in ZeroMQ's format, with host names resolved. Call
 * before the jail; waits up to connect_wait_ms for name resolution. */
int endpoint_list(const struct bus_config *, enum peer to, struct texts *out, struct err *);
