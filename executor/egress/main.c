/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress - the only way of programs to the network: by name, and only to names that were allowed.
 *
 * Trusts the executor only for the list of names of a run; every packet, connection and reply of a
 * server is hostile.  It holds what no other daemon has: the permission to connect to other
 * machines, and the listening sockets in the boxes' network namespaces.  It has no file.
 */
#include "executor/egress/address.h"
#include "executor/egress/network.h"
#include "executor/egress/options.h"
#include "executor/egress/resolver.h"

#include "common/daemon/daemon.h"

#define SYSCALLS "executor/egress/syscalls.def"
#include "common/daemon/own_syscalls.h"

static int
open_all(struct err *e)
{
	if (address_open(options.allowed_networks, e) < 0 || address_refuse_own(e) < 0)
		return -1;
	return resolver_open(options.resolver, e);
}

static const struct route routes[] = {
	{ MSG_serve_network, FROM(executor), network_on_serve_network },
	{ MSG_end_network, FROM(executor), network_on_end_network },
	{ 0 },
};

static const struct daemon self = {
	.self = PEER_egress,
	.settings = options_table,
	.routes = routes,
	.syscalls = syscalls,
	.refused = refused,
	.outside = true,
	.memory_bytes = (uint64_t)2 << 30,
	.open = open_all,
	.start = network_open,
	.stop = network_close,
};

int
main(int argc, char **argv)
{
	return daemon_main(argc, argv, &self);
}
