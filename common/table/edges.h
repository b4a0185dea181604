/* SPDX-License-Identifier: Apache-2.0 */
/* edges.h - the daemons and the permitted connections between them: peers.def and edges.def as
 * data. */
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

/* The columns of peers.def that a daemon needs. */
struct edge_peer {
	const char *name;
	enum edge_state state;
	unsigned open_files;
	const char *doc;
};

extern const struct edge_peer edge_peers[PEER_COUNT];

struct edge {
	enum peer client, server;
	const char *name; /* "gateway-executor": directory of its endpoints, group of its sockets */
	const char *doc;
};

extern const struct edge edges[];
extern const size_t edges_count;

/* The edge of that pair, or NULL. */
const struct edge *edge_find(enum peer client, enum peer server);
/* "gateway", and the inverse; "none" and PEER_none for anything else. */
const char *edge_peer_name(enum peer);
enum peer edge_peer_parse(const char *name);
