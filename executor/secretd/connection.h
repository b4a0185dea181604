/* SPDX-License-Identifier: Apache-2.0 */
/* connection.h - one connection of a box to a bound name, in a process of its own. */
#pragma once

#include "executor/secretd/credentials.h"

#include <gnutls/gnutls.h>

struct connection_plan {
	int box, server; /* non-blocking; the server's is connected */
	int leash;       /* hangs up when the keeper has ended */
	const struct credential *credential;
	gnutls_certificate_credentials_t front; /* what the box sees */
	gnutls_certificate_credentials_t trust; /* for the server */
	int64_t idle_ms;                        /* without a byte, it ends */
};

enum {
	CONNECTION_GREET_MS = 10000,
	CONNECTION_LIFE_MS = 3600000,
};

/* Returns when the connection has ended. */
void connection_serve(const struct connection_plan *);
