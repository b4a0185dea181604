/* SPDX-License-Identifier: Apache-2.0 */
/*
 * served.h - the network of one run: its listening sockets, which are in its box, the names that
 * it may reach, and the addresses that stand for these names there.
 */
#pragma once

#include "common/base/domain.h"
#include "common/bus/bus.h"

#include "executor/egress/attempt.h"

enum {
	NETWORK_NAMES = 256, /* that one run may resolve */
};

struct relay;

struct served {
	struct served *next;
	struct call *call; /* open as long as the network */
	char *id;
	struct texts domains;
	struct texts bound; /* connections to these names are secretd's, */
	char *secretd;      /* of that instance; NULL: there are none */
	char names[NETWORK_NAMES][DOMAIN_NAME];
	size_t nnames;
	struct attempts attempts;
	int fds[16]; /* the first one: questions; the others: connections */
	size_t nfds;
	uint64_t pause; /* timer; 0: connections are accepted */
	struct relay *relays;
	size_t open; /* connections */
	uint64_t connections, bytes_in, bytes_out;
};
