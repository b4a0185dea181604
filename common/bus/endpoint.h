/* SPDX-License-Identifier: Apache-2.0 */
/* endpoint.h - where an edge's two sides meet: folders, their owners, and addresses. */
#pragma once

#include "common/bus/bus.h"

enum {
	ENDPOINT_BYTES = 256, /* of an address */
};

/* A word for a file name: letters, digits, '_', '-', '.'; not beginning with a dot. */
bool endpoint_is_name(const char *);

/* Makes <run>/<edge> for its server, which binds in it; a descriptor of the caller.  Before the
 * jail. */
int endpoint_folder(const struct bus_config *, const struct edge *, struct err *);
/* The uid of a peer's process.  Before the jail. */
int endpoint_uid(const struct bus_config *, enum peer, uid_t *, struct err *);
/* "ipc://<run>/<edge>/<instance>" */
int endpoint_ipc(const char *run, const struct edge *, const char *instance,
    char out[ENDPOINT_BYTES], struct err *);
/* What connect[to] says, host names replaced by addresses, as ZeroMQ wants it; appended to *out.
 * Before the jail; waits for names up to connect_wait_ms. */
int endpoint_list(const struct bus_config *, enum peer to, struct texts *out, struct err *);
