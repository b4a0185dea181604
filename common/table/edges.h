/* SPDX-License-Identifier: Apache-2.0 */
/* edges.h - the daemons, and who may talk to whom: peers.def and edges.def as data. */
#pragma once

#include <stddef.h>

enum peer {
	PEER_none,
#define PEER(name, ...) PEER_##name,
#include "common/table/peers.def"
	PEER_COUNT,
	PEER_FIRST = PEER_none + 1,
};

enum edge_state {
	NO_STATE,
	OWN_STATE,
	SHARED_STATE,
};

/* What a daemon needs of its row of peers.def. */
struct edge_peer {
	const char *name;
	enum edge_state state;
	unsigned open_files;
	const char *doc;
};

extern const struct edge_peer edge_peers[PEER_COUNT];

struct edge {
	enum peer client, server;
	const char *name; /* "gateway-executor": folder of its endpoints, group of its sockets */
	const char *doc;
};

extern const struct edge edges[];
extern const size_t edges_count;

/* The edge of that pair, or NULL where there is none. */
const struct edge *edge_find(enum peer client, enum peer server);
/* "gateway", and back; "none" and PEER_none for what is not one. */
const char *edge_peer_name(enum peer);
enum peer edge_peer_parse(const char *name);
