/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - the documents that a schema can refer to, and where each subschema of them is.
 *
 * A reference is resolved among the schema itself, the documents that came with the request, and
 * the metaschemas.  Nothing is ever fetched.
 */
#pragma once

#include "validator/schema/map.h"
#include "validator/schema/meta.h"

#include <stdbool.h>

/* What has a base URI of its own: a document, or a schema within one that has an id. */
struct resource {
	const char *uri; /* without a fragment; "": unknown */
	const json_t *root;
	enum draft draft;
	unsigned vocabularies; /* bits of those whose keywords count */
	bool assert_format;
	bool recursive;                      /* $recursiveAnchor */
	struct map anchors, dynamic_anchors; /* from a name to a location */
	struct map dynamic_nodes;            /* from a name to a node of the plan */
	struct resource *next;
};

struct location {
	const json_t *schema;
	struct resource *resource;
	const char
	    *pointer; /* from the document's root; with its URI and # if that is another one */
};

struct library {
	struct arena *arena;
	json_t *documents; /* an object: from URIs to schemas; borrowed, NULL: none */
	json_t *made;      /* an array: metaschemas */
	enum draft draft;  /* of a document that does not name its draft */
	struct map resources, locations;
	struct resource *all;
	unsigned depth;
};

/* Arena, documents and draft are set, the rest is zero.  The location of the whole schema, which is
 * borrowed; schema_invalid with *e. */
int library_open(struct library *, const json_t *schema, struct location *, struct err *);
void library_close(struct library *);
/* What a reference within that resource names; schema_invalid with *e. */
int library_find(
    struct library *, struct resource *, const char *reference, struct location *, struct err *);
/* Of a schema at that pointer within another one. */
struct location library_locate(const struct library *, const json_t *schema,
    const struct location *parent, const char *pointer);
