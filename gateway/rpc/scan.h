/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - a first pass over a message while its bytes arrive, in constant memory.
 *
 * It bounds what a parser may have to build (3 bytes of "[]," cost it 100).  It also finds the id
 * of a request that is too long, too deep or not JSON, so that the request gets an error reply and
 * does not time out at the client.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SCAN_MAX_DEPTH = 256,
	SCAN_MAX_VALUES = 2000000,
	SCAN_MAX_KEYS = 50000, /* a key costs a parser twenty times what a number does */
	SCAN_MAX_ID = 1024,    /* bytes of an id as written, including quotes */
};

struct scan {
	unsigned depth, deepest;
	uint64_t values, keys;
	bool array;            /* the outermost value is an array: a batch */
	bool string, escaped;  /* inside of a string; after a backslash */
	bool in_key, key_next; /* of the outermost object */
	bool in_id, id_seen;   /* copying the id; it is complete */
	size_t key_size, id_size;
	char key[4], id[SCAN_MAX_ID]; /* up to their sizes */
};

/* Resets to the start of a message; a zeroed struct is already reset. */
void scan_reset(struct scan *);
void scan_feed(struct scan *, const char *data, size_t size);
/* NULL, or the bound that the message exceeds, for an error text. */
const char *scan_refusal(const struct scan *);
/* The id of the outermost object, a new reference; NULL: it has no string or integer as its id. */
json_t *scan_id(const struct scan *);
