/* SPDX-License-Identifier: Apache-2.0 */
/* address.h - addresses that programs may reach. */
#pragma once

#include "common/base/err.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

socklen_t address_size(const union address *);
void address_set_port(union address *, uint16_t port);
/* "192.0.2.1", "192.0.2.1:53" or "[2001:db8::1]:53". */
int address_read(const char *text, uint16_t port, union address *);
/* The setting allowed_networks. */
int address_open(const char *networks, struct err *);
/* From now on this address is not permitted, unless it is of an allowed network. */
void address_refuse(const union address *);
/* The same for the addresses of this host's interfaces.  Before the jail. */
int address_refuse_own(struct err *);
/* A public address, or one of an allowed network. */
bool address_is_permitted(const union address *);
