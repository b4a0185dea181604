/* SPDX-License-Identifier: Apache-2.0 */
/* edges.c - look-ups in the table of edges; trusts nothing, allocates nothing. */
#include "common/table/edges.h"

#include "common/base/auto.h"

#include <string.h>

/* clang-format off */
const struct edge edges[] = {
#define EDGE(client, server, doc) { PEER_##client, PEER_##server, #client "-" #server, doc },
#include "common/table/edges.def"
};
/* clang-format on */

const size_t edges_count = COUNT(edges);

static const char *const names[PEER_COUNT] = {
	[PEER_none] = "none",
	[PEER_gateway] = "gateway",
	[PEER_executor] = "executor",
	[PEER_validator] = "validator",
	[PEER_snapshotd] = "snapshotd",
	[PEER_auditd] = "auditd",
};

const struct edge *
edge_find(enum peer client, enum peer server)
{
	for (const struct edge *x = edges; x < edges + edges_count; x++)
		if (x->client == client && x->server == server)
			return x;
	return NULL;
}

const char *
edge_peer_name(enum peer peer)
{
	return names[peer];
}

enum peer
edge_peer_parse(const char *name)
{
	for (int peer = PEER_gateway; peer < PEER_COUNT; peer++)
		if (strcmp(names[peer], name) == 0)
			return (enum peer)peer;
	return PEER_none;
}
