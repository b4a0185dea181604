/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rights_file.c - the YAML of policies.
 *
 * One wrong word refuses the whole file, because a part of it could allow what the operator meant
 * to take away.
 */
#include "common/rights/rights.h"

#include "common/base/auto.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <yaml.h>

static const struct row {
	const char *name;
	size_t at; /* in struct rights */
	bool list;
	uint64_t low, high;
} rows[] = {
#define NAMES(name, where, doc) { #name, offsetof(struct rights, name), true, 0, 0 },
#define AMOUNT(name, where, low, high, doc) \
	{ #name, offsetof(struct rights, name), false, low, high },
#include "common/rights/rights.def"
};

struct reading {
	yaml_document_t doc;
	const char *policy;
	struct err *e;
};

/* ---- nodes ---- */

static int
wrong(const struct reading *r, const yaml_node_t *node, const char *what)
{
	return err_set(r->e, ERR_invalid_argument, "line %zu: %s%s%s", node->start_mark.line + 1,
	    r->policy != NULL ? r->policy : "", r->policy != NULL ? ": " : "", what);
}

static const char *
text_of(struct reading *r, int index)
{
	const yaml_node_t *node = yaml_document_get_node(&r->doc, index);

	if (node->type == YAML_SCALAR_NODE &&
	    strlen((const char *)node->data.scalar.value) == node->data.scalar.length)
		return (const char *)node->data.scalar.value;
	wrong(r, node, "one text is needed here");
	return NULL;
}

/* Calls each() for each pair of a mapping. */
static int
each_pair(struct reading *r, const yaml_node_t *map, void *self,
    int (*each)(struct reading *, const char *key, int value, void *self))
{
	const yaml_node_pair_t *p;

	if (map->type != YAML_MAPPING_NODE)
		return wrong(r, map, "a mapping is needed here, as in name: value");
	for (p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *key = text_of(r, p->key);

		for (const yaml_node_pair_t *q = map->data.mapping.pairs.start;
		     key != NULL && q < p; q++) {
			const char *other = text_of(r, q->key);

			if (other != NULL && strcmp(other, key) == 0)
				return wrong(r, yaml_document_get_node(&r->doc, p->key),
				    "the same name twice");
		}
		if (key == NULL || each(r, key, p->value, self) < 0)
			return -1;
	}
	return 0;
}

/* ---- values ---- */

static int
read_list(struct reading *r, int index, struct rights_list *list)
{
	const yaml_node_t *node = yaml_document_get_node(&r->doc, index);
	const yaml_node_item_t *item;

	list->given = true;
	if (node->type != YAML_SEQUENCE_NODE)
		return wrong(r, node, "a list is needed here, as in [python, shell]");
	for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
		const char *text = text_of(r, *item);

		if (text == NULL)
			return -1;
		if (text[0] == '\0' || strlen(text) > 255)
			return wrong(r, node, "an entry has 1 to 255 bytes");
		if (texts_add(&list->names, text) < 0)
			return err_sys(r->e, "policies");
	}
	return 0;
}

static int
read_number(struct reading *r, int index, const struct row *row, struct rights_number *number)
{
	const char *text = text_of(r, index);
	char what[128], *end = NULL;

	if (text == NULL)
		return -1;
	errno = 0;
	number->value = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
	number->given = end != NULL && *end == '\0' && errno == 0 && number->value >= row->low &&
	                number->value <= row->high;
	if (number->given)
		return 0;
	snprintf(what, sizeof what, "%s must be a number from %" PRIu64 " to %" PRIu64, row->name,
	    row->low, row->high);
	return wrong(r, yaml_document_get_node(&r->doc, index), what);
}

static int
read_whom(struct reading *r, const char *key, int value, void *self)
{
	struct rights *rights = self;
	const yaml_node_t *node = yaml_document_get_node(&r->doc, value);
	const char *text = text_of(r, value);
	bool principal = strcmp(key, "principal") == 0;
	char *to = principal ? rights->owner.principal : rights->owner.namespace;
	size_t room = principal ? sizeof rights->owner.principal : sizeof rights->owner.namespace;

	if (text == NULL)
		return -1;
	if (!principal && strcmp(key, "namespace") != 0)
		return wrong(r, node, "`for` has principal and namespace");
	if (text[0] == '\0' || strlen(text) >= room)
		return wrong(r, node, "a principal has 1 to 128 bytes, a namespace 1 to 64");
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

/* ---- policies ---- */

static int
unknown(struct reading *r, const char *key, int value)
{
	char what[512];
	size_t used = (size_t)snprintf(what, sizeof what, "unknown '%.64s'; known are for", key);

	for (const struct row *row = rows; row < rows + COUNT(rows) && used < sizeof what; row++)
		used += (size_t)snprintf(what + used, sizeof what - used, ", %s", row->name);
	return wrong(r, yaml_document_get_node(&r->doc, value), what);
}

static int
read_right(struct reading *r, const char *key, int value, void *self)
{
	struct rights *rights = self;

	if (strcmp(key, "for") == 0)
		return each_pair(r, yaml_document_get_node(&r->doc, value), rights, read_whom);
	for (const struct row *row = rows; row < rows + COUNT(rows); row++) {
		void *at = (char *)rights + row->at;

		if (strcmp(row->name, key) == 0)
			return row->list ? read_list(r, value, at) : read_number(r, value, row, at);
	}
	return unknown(r, key, value);
}

static bool
is_name(const char *text)
{
	size_t size =
	    strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	return size > 0 && size < RIGHTS_NAME && text[size] == '\0';
}

static int
read_policy(struct reading *r, const char *name, int value, void *self)
{
	struct rights_book *book = self;
	const yaml_node_t *node = yaml_document_get_node(&r->doc, value);
	struct rights *more;

	r->policy = NULL;
	if (!is_name(name))
		return wrong(
		    r, node, "the name of a policy has 1 to 64 letters, digits, dots, - and _");
	if (book->count == RIGHTS_MAX)
		return wrong(r, node, "more than 1000 policies");
	if ((more = reallocarray(book->items, book->count + 1, sizeof *more)) == NULL)
		return err_sys(r->e, "policies");
	book->items = more;
	more += book->count++;
	*more = (struct rights){ 0 };
	memcpy(more->name, name, strlen(name) + 1);
	r->policy = more->name;
	if (each_pair(r, node, more, read_right) < 0)
		return -1;
	/* Others would be for everybody by mistake. */
	if (more->owner.principal[0] == '\0' && more->owner.namespace[0] == '\0' &&
	    strcmp(name, "everybody") != 0)
		return wrong(r, node, "`for` is missing; only the policy named everybody has none");
	r->policy = NULL;
	return 0;
}

static int
read_document(struct reading *r, struct rights_book *book)
{
	yaml_node_t *root = yaml_document_get_root_node(&r->doc);

	if (root == NULL || (root->type == YAML_SCALAR_NODE && root->data.scalar.length == 0))
		return 0; /* an empty file */
	return each_pair(r, root, book, read_policy);
}

int
rights_read(const struct blob *file, struct rights_book *book, struct err *e)
{
	struct reading r = { .e = e };
	yaml_parser_t parser;
	int failed;

	*book = (struct rights_book){ 0 };
	must(yaml_parser_initialize(&parser));
	yaml_parser_set_input_string(&parser, file->data, file->size);
	if (!yaml_parser_load(&parser, &r.doc)) {
		failed =
		    err_set(e, ERR_invalid_argument, "line %zu: %s", parser.problem_mark.line + 1,
			parser.problem != NULL ? parser.problem : "not YAML");
	} else {
		failed = read_document(&r, book);
		yaml_document_delete(&r.doc);
	}
	yaml_parser_delete(&parser);
	if (failed < 0)
		rights_clear(book);
	return failed;
}
