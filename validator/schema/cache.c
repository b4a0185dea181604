/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c - keeps the plans that were used last, within a number and a size.
 *
 * A key is a SHA-256 over everything that the plan depends on, so that no client gets the plan of
 * another schema.
 */
#include "validator/schema/cache.h"

#include "validator/schema/document.h"
#include "validator/schema/run.h"
#include "validator/schema/uri.h"

#include "common/base/auto.h"
#include "common/base/hash.h"

#include <string.h>

enum {
	PLANS = 32,
	MAX_BYTES =
	    1 << 20, /* of the texts of kept schemas; a plan takes some fifty times as much */
	LARGE_BYTES = 4 << 20, /* of texts whose plan is not kept */
	META_STEPS = 5000000,
	META_MS = 2000,
};

static struct kept {
	uint8_t digest[HASH_BYTES];
	struct plan *plan; /* NULL: a free place */
	struct document schema, documents;
	size_t bytes;
	uint64_t used; /* when last */
} kept[PLANS];

static uint64_t uses;

static void
drop(struct kept *one)
{
	plan_free(one->plan);
	document_free(&one->schema);
	document_free(&one->documents);
	*one = (struct kept){ 0 };
}

void
cache_clear(void)
{
	for (size_t i = 0; i < PLANS; i++)
		drop(&kept[i]);
}

void
cache_settle(void)
{
	for (struct kept *one = kept; one < kept + PLANS; one++)
		if (one->bytes > LARGE_BYTES)
			drop(one);
}

static struct kept *
least_used(void)
{
	struct kept *least = NULL;

	for (struct kept *one = kept; one < kept + PLANS; one++)
		if (one->plan != NULL && (least == NULL || one->used < least->used))
			least = one;
	return least;
}

/* A place for a plan of so many bytes. */
static struct kept *
make_room(size_t bytes)
{
	struct kept *place = NULL;
	size_t sum = bytes;

	for (struct kept *one = kept; one < kept + PLANS; one++) {
		sum += one->bytes;
		if (one->plan == NULL)
			place = one;
	}
	while (place == NULL || sum > MAX_BYTES) {
		struct kept *least = least_used();

		if (least == NULL)
			break;
		sum -= least->bytes;
		drop(least);
		place = least;
	}
	return place;
}

/* ---- metaschemas ---- */

/* The draft that a schema is to be checked by; DRAFT_unknown: it has a dialect of its own. */
static enum draft
draft_of(const struct kept *one, enum draft fallback)
{
	const json_t *uri = json_object_get(one->schema.value, "$schema");
	struct arena arena = { 0 };
	enum draft draft = fallback;

	if (json_is_string(uri)) {
		char *text = arena_text(&arena, json_string_value(uri), json_string_length(uri));

		uri_split(&arena, text);
		draft = meta_draft(text);
		arena_free(&arena);
	}
	return draft;
}

static int
report_misformed(const struct plan *meta, const struct view *schema, struct err *e)
{
	const struct run_limits limits = { META_STEPS, META_MS };
	struct problems problems = { .most = 4 };
	const struct schema_error *first = NULL;

	if (run_check(meta, schema, &limits, &problems, e) >= 0) {
		/* What explains an anyOf says more than the anyOf. */
		for (size_t i = 0; i < problems.count && (first == NULL || i < 2); i++)
			if (first == NULL || problems.items[i].part_of == 1)
				first = &problems.items[i];
		err_set(e, ERR_schema_invalid, "schema: %.200s",
		    first != NULL ? first->message : "not a schema");
	}
	problem_clear(&problems);
	return -1;
}

static int
check_form(const json_t *schema, enum draft draft, struct err *e)
{
	static struct {
		enum draft draft;
		json_t *document;
		struct plan *plan;
	} metas[] = { { DRAFT_2020, NULL, NULL }, { DRAFT_2019, NULL, NULL },
		{ DRAFT_7, NULL, NULL }, { DRAFT_6, NULL, NULL }, { DRAFT_4, NULL, NULL } };
	const struct run_limits limits = { META_STEPS, META_MS };
	size_t i = 0;
	int got;

	while (i < COUNT(metas) && metas[i].draft != draft)
		i++;
	if (i == COUNT(metas))
		return 0;
	if (metas[i].plan == NULL) {
		metas[i].document = meta_document(meta_uri(draft));
		metas[i].plan =
		    plan_new(&(struct plan_spec){ .schema = metas[i].document, .draft = draft }, e);
		must(metas[i].plan != NULL);
	}
	struct arena arena = { 0 };
	struct view view;

	view_read(&view, &arena, schema);
	got = run_check(metas[i].plan, &view, &limits, NULL, e);
	if (got == 0)
		got = report_misformed(metas[i].plan, &view, e);
	arena_free(&arena);
	return got;
}

/* ---- plans ---- */

static void
digest_of(const struct cache_key *key, uint8_t digest[HASH_BYTES])
{
	const uint64_t head[] = { key->draft, key->formats, key->schema->size,
		key->documents->size };
	struct hash hash;

	hash_begin(&hash);
	hash_add(&hash, head, sizeof head);
	hash_add(&hash, key->schema->data, key->schema->size);
	if (key->documents->size > 0)
		hash_add(&hash, key->documents->data, key->documents->size);
	hash_end(&hash, digest);
}

static int
make(struct kept *one, const struct cache_key *key, struct err *e)
{
	if (document_read(
		&one->schema, "schema_name_or_dict", key->schema->data, key->schema->size, e) < 0)
		return -1;
	if (!json_is_object(one->schema.value) && !json_is_boolean(one->schema.value))
		return err_set(e, ERR_invalid_argument,
		    "schema_name_or_dict: a schema is an object, true or false");
	if (key->documents->size > 0 && document_read(&one->documents, "documents",
					    key->documents->data, key->documents->size, e) < 0)
		return -1;
	if (one->documents.value != NULL && !json_is_object(one->documents.value))
		return err_set(e, ERR_invalid_argument, "documents: an object is needed");
	if (check_form(one->schema.value, draft_of(one, key->draft), e) < 0)
		return -1;
	one->plan = plan_new(&(struct plan_spec){ .schema = one->schema.value,
				 .documents = one->documents.value,
				 .draft = key->draft,
				 .formats = key->formats },
	    e);
	return one->plan != NULL ? 0 : -1;
}

const struct plan *
cache_plan(const struct cache_key *key, struct err *e)
{
	size_t bytes = key->schema->size + key->documents->size;
	struct kept made = { .bytes = bytes };

	digest_of(key, made.digest);
	for (struct kept *one = kept; one < kept + PLANS; one++)
		if (one->plan != NULL && memcmp(one->digest, made.digest, HASH_BYTES) == 0) {
			one->used = ++uses;
			return one->plan;
		}
	if (make(&made, key, e) < 0) {
		drop(&made);
		return NULL;
	}
	struct kept *place = make_room(bytes);
	made.used = ++uses;
	*place = made;
	return place->plan;
}
