/* SPDX-License-Identifier: Apache-2.0 */
/* edges.c - lookups in the tables of daemons and edges; trusts no input, allocates nothing. */
#include "common/table/edges.h"

#include "common/base/auto.h"

#include <string.h>

/* clang-format off */
const struct edge_peer edge_peers[PEER_COUNT] = {
	[PEER_none] = { .name = "none" },
#define PEER(name, directory, life, state, open_files, kept_files, doc) \
	[PEER_##name] = { #name, state, open_files, doc },
#include "common/table/peers.def"
};

const struct edge edges[] = {
#define EDGE(client, server, doc) { PEER_##client, PEER_##server, #client "-" #server, doc },
#include "common/table/edges.def"
};
/* clang-format on */

const size_t edges_count = COUNT(edges);

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
	return edge_peers[peer].name;
}

enum peer
edge_peer_parse(const char *name)
{
	for (int peer = PEER_FIRST; peer < PEER_COUNT; peer++)
		if (strcmp(edge_peers[peer].name, name) == 0)
			return (enum peer)peer;
	return PEER_none;
}
