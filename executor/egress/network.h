/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.h - the network of one run: its listening sockets, which are in its box, the names that
 * it may reach, and the addresses that stand for these names there.
 */
#pragma once

#include "common/base/domain.h"
#include "common/bus/bus.h"

#include "executor/egress/address.h"

enum {
	NETWORK_NAMES = 256,   /* that one run may resolve */
	NETWORK_ATTEMPTS = 64, /* that are reported one by one */
};

/* What came of the connections to one name and port. */
struct attempt {
	char name[DOMAIN_NAME];
	uint16_t port;       /* 0: it was only resolved */
	const char *refused; /* why; NULL: it was not */
	uint64_t connections, bytes_in, bytes_out;
};

struct relay;

struct network {
	struct network *next;
	struct call *call; /* open as long as the network */
	char *id;
	struct texts domains;
	char names[NETWORK_NAMES][DOMAIN_NAME];
	size_t nnames;
	struct attempt attempts[NETWORK_ATTEMPTS];
	size_t nattempts;
	int fds[16];
	size_t nfds;
	struct relay *relays;
	size_t open; /* connections */
	uint64_t connections, bytes_in, bytes_out;
};

/* In start(). */
int network_open(struct err *);
void network_close(void);
/* The entry of that name and port; NULL: there is no room. */
struct attempt *network_attempt(struct network *, const char *name, uint16_t port);
/* Records a refusal. */
void network_refuse(struct network *, const char *name, uint16_t port, const char *why);

int network_on_serve_network(struct call *, void *request, struct err *);
int network_on_end_network(struct call *, void *request, struct err *);
