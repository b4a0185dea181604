/* SPDX-License-Identifier: Apache-2.0 */
/* key.c - the cells of a key in one buffer, each after its length, so that no two rows look alike
 * unless they are; trusts nothing. */
#include "validator/csv/key.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t
find(const struct table *t, const char *name)
{
	size_t i = 0;

	while (i < t->count && strcmp(t->fields[i].name, name) != 0)
		i++;
	return i;
}

static int
add_column(struct table *t, struct table_key *key, const char *name, struct err *e)
{
	size_t column = find(t, name);
	unsigned bit = 1U << (key - t->keys);

	if (column == t->count)
		return err_set(e, ERR_invalid_argument,
		    "type_constraints.%.60s.unique: there is no column \"%.60s\"",
		    t->fields[key->column].name, name);
	key->wanted += (t->fields[column].keys & bit) == 0;
	t->fields[column].keys |= bit;
	return 0;
}

static int
begin_key(struct table *t, size_t column, struct err *e)
{
	const struct texts *with = &t->fields[column].rule.with;
	struct table_key *key = &t->keys[t->key_count];

	if (!t->ask->has_header)
		return err_set(e, ERR_invalid_argument,
		    "type_constraints.%.60s.unique: names of columns need a header",
		    t->fields[column].name);
	if (t->key_count == TABLE_KEYS)
		return err_set(e, ERR_invalid_argument,
		    "type_constraints.%.60s.unique: over %d keys of several columns",
		    t->fields[column].name, TABLE_KEYS);
	t->key_count++;
	key->column = column;
	if (add_column(t, key, t->fields[column].name, e) < 0)
		return -1;
	for (size_t i = 0; i < with->count; i++)
		if (add_column(t, key, with->items[i], e) < 0)
			return -1;
	return 0;
}

int
key_begin(struct table *t, struct err *e)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->fields[i].has_rule && t->fields[i].rule.with.count > 0 &&
		    begin_key(t, i, e) < 0)
			return -1;
	return 0;
}

static int
append(struct table_key *key, const char *data, size_t size, struct err *e)
{
	char length[24];
	size_t head = (size_t)snprintf(length, sizeof length, "%zu:", size);

	if (key->used + head + size > key->room) {
		size_t room = 2 * (key->used + head + size);
		char *buffer = realloc(key->buffer, room);

		if (buffer == NULL)
			return err_sys(e, "keep a key");
		key->buffer = buffer;
		key->room = room;
	}
	memcpy(key->buffer + key->used, length, head);
	memcpy(key->buffer + key->used + head, data, size);
	key->used += head + size;
	key->cells++;
	return 0;
}

int
key_add(struct table *t, size_t column, const char *data, size_t size, struct err *e)
{
	for (size_t i = 0; i < t->key_count && size > 0; i++)
		if ((t->fields[column].keys & 1U << i) != 0 &&
		    append(&t->keys[i], data, size, e) < 0)
			return -1;
	return 0;
}

static int
check_one(struct table *t, struct table_key *key, struct err *e)
{
	const struct table_column *field = &t->fields[key->column];
	struct fault fault = { "unique", field->name, NULL, 0 };
	uint64_t first = 0;

	if (key->cells < key->wanted)
		return 0;
	switch (distinct_add(&key->seen, &t->budget, key->buffer, key->used, t->row, &first)) {
	case DISTINCT_KNOWN:
		table_report(t, &fault, "and %.60s%s together are already in row %" PRIu64,
		    field->rule.with.items[0], field->rule.with.count > 1 ? ", ..." : "", first);
		return 0;
	case DISTINCT_FULL:
		return err_set(e, ERR_limit_exceeded,
		    "type_constraints: over %d distinct values in all unique columns",
		    TABLE_MAX_DISTINCT);
	default:
		return 0;
	}
}

int
key_check(struct table *t, struct err *e)
{
	for (struct table_key *key = t->keys; key < t->keys + t->key_count; key++) {
		int status = check_one(t, key, e);

		key->used = key->cells = 0;
		if (status < 0)
			return -1;
	}
	return 0;
}

void
key_close(struct table *t)
{
	for (size_t i = 0; i < t->key_count; i++) {
		distinct_close(&t->keys[i].seen);
		free(t->keys[i].buffer);
	}
}
