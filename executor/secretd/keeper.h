/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.h - the process that holds the credentials and the keys of all runs, and forks a process
 * for each connection.
 */
#pragma once

#include "executor/secretd/credentials.h"

#include <gnutls/gnutls.h>

enum {
	KEEPER_RUNS = 256,
	KEEPER_CONNECTIONS = 256, /* of all runs */
};

struct keeper_plan {
	struct credentials credentials;
	gnutls_certificate_credentials_t trust; /* for servers */
	uint64_t max_connections;               /* of one run */
	int64_t idle_ms;
};

/* In its jail: serves orders until the other end is closed. leash: a pipe, whose first end tells
 * the processes of connections that the keeper has ended. */
void keeper_serve(int sock, const int leash[2], struct keeper_plan *);
/* The system calls of its jail, and those that a process of a connection gives up; end with -1. */
extern const int keeper_calls[], keeper_given_up[];
