/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - finds the ids and anchors of each document once; trusts no schema to be well-formed.
 */
#include "validator/schema/library.h"

#include "validator/schema/uri.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	ALL = (1 << VOCABULARY_COUNT) - 1,
	MAX_DEPTH = 512,  /* nesting of subschemas */
	MAX_DIALECTS = 8, /* a metaschema whose metaschema has a metaschema */
};

static int scan(struct library *, const struct location *, struct err *);

/* ---- dialects ---- */

static int
read_vocabularies(struct resource *r, json_t *map, struct err *e)
{
	const char *uri;
	json_t *required;
	int assert_format = 0;
	unsigned bits = 1 << VOCABULARY_core;

	json_object_foreach(map, uri, required)
	{
		unsigned more = meta_vocabulary(uri, &assert_format);

		if (more == 0 && json_is_true(required))
			return err_set(e, ERR_schema_invalid,
			    "$vocabulary: the required vocabulary %.120s is unknown", uri);
		bits |= more;
	}
	r->vocabularies = bits;
	r->assert_format = assert_format != 0;
	return 0;
}

/* The draft and the vocabularies that "$schema" names; a custom one is among the documents. */
static int
read_dialect(struct library *library, struct resource *r, const char *name, struct err *e)
{
	char *uri = arena_text(library->arena, name, strlen(name));
	json_t *map = NULL;

	for (int i = 0; i < MAX_DIALECTS; i++) {
		uri_split(library->arena, uri);
		r->draft = meta_draft(uri);
		if (r->draft != DRAFT_unknown)
			return map != NULL ? read_vocabularies(r, map, e) : 0;
		json_t *document = json_object_get(library->documents, uri);
		json_t *next = json_object_get(document, "$schema");
		if (map == NULL)
			map = json_object_get(document, "$vocabulary");
		if (!json_is_string(next))
			break;
		uri = arena_text(library->arena, json_string_value(next), json_string_length(next));
	}
	return err_set(e, ERR_schema_invalid,
	    "$schema: %.100s is no known dialect; known are drafts 2020-12, 2019-09, 07, 06, 04 "
	    "and "
	    "those of documents",
	    name);
}

/* ---- finding ids and anchors ---- */

static struct resource *
add_resource(struct library *library, const char *uri, const struct location *at,
    const struct resource *parent)
{
	struct resource *r = arena_take(library->arena, sizeof *r);

	*r = (struct resource){ .uri = uri,
		.root = at->schema,
		.draft = parent != NULL ? parent->draft : library->draft,
		.vocabularies = parent != NULL ? parent->vocabularies : ALL,
		.assert_format = parent != NULL && parent->assert_format,
		.next = library->all };
	library->all = r;
	map_put(&library->resources, library->arena, uri, strlen(uri), r);
	return r;
}

static void
add_anchor(
    struct library *library, struct map *anchors, const char *name, const struct location *at)
{
	struct location *copy = arena_take(library->arena, sizeof *copy);

	*copy = *at;
	map_put(anchors, library->arena, name, strlen(name), copy);
}

/* The id of a schema, if that has a meaning. */
static const char *
id_of(const struct location *at)
{
	enum draft draft = at->resource->draft;

	if (draft <= DRAFT_7 && json_is_string(json_object_get(at->schema, "$ref")))
		return NULL;
	return json_string_value(json_object_get(at->schema, draft == DRAFT_4 ? "id" : "$id"));
}

/* Before draft 2019-09 an id is an anchor as well. */
static int
enter(struct library *library, struct location *at, struct err *e)
{
	const char *id = id_of(at), *dialect;
	struct resource *parent = at->resource;

	if (id == NULL)
		return 0;
	char *uri = uri_resolve(library->arena, parent->uri, id);
	char *fragment = uri_split(library->arena, uri);
	if (id[0] != '#' && strcmp(uri, parent->uri) != 0) {
		at->resource = add_resource(library, uri, at, parent);
		dialect = json_string_value(json_object_get(at->schema, "$schema"));
		if (dialect != NULL && read_dialect(library, at->resource, dialect, e) < 0)
			return -1;
	}
	if (fragment[0] != '\0' && parent->draft <= DRAFT_7)
		add_anchor(library, &at->resource->anchors, fragment, at);
	return 0;
}

static void
name_anchors(struct library *library, const struct location *at)
{
	struct resource *r = at->resource;
	const char *anchor = json_string_value(json_object_get(at->schema, "$anchor"));
	const char *dynamic = json_string_value(json_object_get(at->schema, "$dynamicAnchor"));

	if (anchor != NULL && r->draft >= DRAFT_2019)
		add_anchor(library, &r->anchors, anchor, at);
	if (dynamic != NULL && r->draft >= DRAFT_2020) {
		add_anchor(library, &r->anchors, dynamic, at);
		add_anchor(library, &r->dynamic_anchors, dynamic, at);
	}
	if (r->draft == DRAFT_2019 && r->root == at->schema &&
	    json_is_true(json_object_get(at->schema, "$recursiveAnchor"))) {
		r->recursive = true;
		add_anchor(library, &r->dynamic_anchors, "", at);
	}
}

static int
scan_child(struct library *library, const struct location *parent, json_t *schema,
    const char *pointer, struct err *e)
{
	const struct location at = { schema, parent->resource, pointer };

	return json_is_object(schema) ? scan(library, &at, e) : 0;
}

static int
scan_items(struct library *library, const struct location *at, json_t *list, const char *pointer,
    struct err *e)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i,
	    item) if (scan_child(library, at, item,
			  arena_print(library->arena, "%s/%zu", pointer, i), e) < 0) return -1;
	return 0;
}

static int
scan_members(struct library *library, const struct location *at, json_t *map, const char *pointer,
    struct err *e)
{
	const char *key;
	json_t *value;

	json_object_foreach(map, key,
	    value) if (scan_child(library, at, value, uri_append(library->arena, pointer, key), e) <
		       0) return -1;
	return 0;
}

/* Only where a keyword has subschemas: an "$id" within "const" or "enum" is data. */
static int
scan_keyword(struct library *library, const struct location *at, const struct keyword_row *row,
    json_t *value, struct err *e)
{
	const char *pointer = uri_append(library->arena, at->pointer, row->name);

	switch (row->form) {
	case FORM_SCHEMA:
	case FORM_SCHEMA_OR_FLAG:
		return scan_child(library, at, value, pointer, e);
	case FORM_SCHEMAS:
	case FORM_ITEMS:
		if (json_is_array(value))
			return scan_items(library, at, value, pointer, e);
		return scan_child(library, at, value, pointer, e);
	case FORM_SCHEMA_MAP:
	case FORM_PATTERN_MAP:
	case FORM_DEPENDENCIES:
		return scan_members(library, at, value, pointer, e);
	default:
		return 0;
	}
}

static int
scan_keywords(struct library *library, const struct location *at, struct err *e)
{
	const char *key;
	json_t *value;
	size_t size;

	json_object_keylen_foreach((json_t *)(uintptr_t)at->schema, key, size, value)
	{
		const struct keyword_row *row = keyword_find(at->resource->draft, key, size);

		if (row != NULL && scan_keyword(library, at, row, value, e) < 0)
			return -1;
	}
	return 0;
}

/* given->resource is that of the parent; for the root of a document its own. */
static int
scan(struct library *library, const struct location *given, struct err *e)
{
	struct location *at = arena_take(library->arena, sizeof *at);
	int status;

	*at = *given;
	if (library->depth >= MAX_DEPTH)
		return err_set(e, ERR_limit_exceeded,
		    "schema: more than %d subschemas within one another; nest them less",
		    MAX_DEPTH);
	if (enter(library, at, e) < 0)
		return -1;
	map_mark(&library->locations, library->arena, at->schema, at);
	name_anchors(library, at);
	library->depth++;
	status = scan_keywords(library, at, e);
	library->depth--;
	return status;
}

/* ---- documents ---- */

/* prefix: what its pointers begin with. */
static struct resource *
add_document(struct library *library, const json_t *schema, const char *uri, const char *prefix,
    struct err *e)
{
	struct location at = { .schema = schema, .pointer = prefix };
	const char *dialect = json_string_value(json_object_get(schema, "$schema"));

	at.resource = add_resource(library, uri, &at, NULL);
	if (dialect != NULL && read_dialect(library, at.resource, dialect, e) < 0)
		return NULL;
	if (!json_is_object(schema))
		return at.resource;
	if (scan(library, &at, e) < 0)
		return NULL;
	/* By its id, if it has one. */
	return ((struct location *)map_at(&library->locations, schema))->resource;
}

static json_t *
make_document(struct library *library, const char *uri)
{
	json_t *document = meta_document(uri);

	if (document != NULL)
		json_array_append_new(library->made, document);
	return document;
}

static struct resource *
resource_at(struct library *library, const char *uri, struct err *e)
{
	struct resource *r = map_get(&library->resources, uri, strlen(uri));
	json_t *document;

	if (r != NULL && json_is_object(r->root)) {
		const struct location *root = map_at(&library->locations, r->root);

		return root->resource;
	}
	if (r != NULL)
		return r;
	if ((document = json_object_get(library->documents, uri)) == NULL)
		document = make_document(library, uri);
	if (document != NULL)
		return add_document(
		    library, document, uri, arena_print(library->arena, "%s#", uri), e);
	err_set(e, ERR_schema_invalid,
	    "$ref: %.120s is not in the schema or in documents; nothing is fetched", uri);
	return NULL;
}

/* ---- references ---- */

struct location
library_locate(const struct library *library, const json_t *schema, const struct location *parent,
    const char *pointer)
{
	const struct location *known =
	    json_is_object(schema) ? map_at(&library->locations, schema) : NULL;

	return known != NULL ? *known : (struct location){ schema, parent->resource, pointer };
}

static json_t *
child_of(const json_t *value, const char *token)
{
	char *end;

	if (json_is_object(value))
		return json_object_get(value, token);
	if (!json_is_array(value) || token[0] == '\0' || (token[0] == '0' && token[1] != '\0'))
		return NULL;
	size_t i = strtoull(token, &end, 10);
	return *end == '\0' && token[0] >= '0' && token[0] <= '9' ? json_array_get(value, i) : NULL;
}

/* Follows a pointer; where it passes a schema with an id, that one's base counts. */
static int
follow(struct library *library, char *pointer, struct location *at)
{
	char *token = pointer, *next;

	while (token != NULL && *token == '/') {
		next = strchr(++token, '/');
		if (next != NULL)
			*next = '\0';
		uri_unescape(token);
		const json_t *child = child_of(at->schema, token);
		if (child == NULL)
			return -1;
		*at = library_locate(
		    library, child, at, uri_append(library->arena, at->pointer, token));
		if (next != NULL)
			*next = '/';
		token = next;
	}
	return 0;
}

static int
find_in(struct library *library, struct resource *r, char *fragment, struct location *found)
{
	const struct location root = { r->root, r, "" }, *anchor;

	*found = library_locate(library, r->root, &root, "");
	if (fragment[0] == '\0')
		return 0;
	if (fragment[0] == '/')
		return follow(library, fragment, found);
	anchor = map_get(&r->anchors, fragment, strlen(fragment));
	if (anchor != NULL)
		*found = *anchor;
	return anchor != NULL ? 0 : -1;
}

int
library_find(struct library *library, struct resource *from, const char *reference,
    struct location *found, struct err *e)
{
	char *uri = uri_resolve(library->arena, from->uri, reference);
	char *fragment = uri_split(library->arena, uri);
	struct resource *r = resource_at(library, uri, e);

	if (r == NULL)
		return -1;
	if (find_in(library, r, fragment, found) < 0)
		return err_set(e, ERR_schema_invalid, "$ref: %.120s: nothing is there", reference);
	if (!json_is_object(found->schema) && !json_is_boolean(found->schema))
		return err_set(e, ERR_schema_invalid, "$ref: %.120s: not a schema", reference);
	/* Within a keyword that is unknown, nothing has been found yet. */
	if (json_is_object(found->schema) && map_at(&library->locations, found->schema) == NULL) {
		if (scan(library, found, e) < 0)
			return -1;
		*found = *(struct location *)map_at(&library->locations, found->schema);
	}
	return 0;
}

int
library_open(struct library *library, const json_t *schema, struct location *whole, struct err *e)
{
	library->made = json_array();
	must(library->made != NULL);
	struct resource *r = add_document(library, schema, "", "", e);
	if (r == NULL)
		return -1;
	const struct location root = { schema, r, "" };
	*whole = library_locate(library, schema, &root, "");
	return 0;
}

void
library_close(struct library *library)
{
	json_decref(library->made);
}
