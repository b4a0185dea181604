/* SPDX-License-Identifier: Apache-2.0 */
/* bridge.c - stores the values of a session, within bounds, because a caller may send any number.
 */
#include "executor/sandbox/bridge.h"

#include "common/base/auto.h"
#include "common/base/log.h"

#include <string.h>

enum {
	MAX_KEYS = 64,
	MAX_BYTES = 8 << 20, /* together */
};

static struct bridge *
find(struct bridges *b, const char *key)
{
	for (size_t i = 0; i < b->count; i++)
		if (strcmp(b->items[i].key, key) == 0)
			return &b->items[i];
	return NULL;
}

static struct bridge *
add(struct bridges *b, const char *key, struct err *e)
{
	struct bridge *grown = NULL;
	auto_free char *copy = strdup(key);

	if (copy != NULL)
		grown = reallocarray(b->items, b->count + 1, sizeof *grown);
	if (grown == NULL) {
		err_sys(e, "bridge");
		return NULL;
	}
	b->items = grown;
	grown += b->count++;
	*grown = (struct bridge){ .key = take_ptr(copy) };
	return grown;
}

int
bridge_put(struct bridges *b, const char *key, struct blob *json, struct err *e)
{
	struct bridge *bridge = find(b, key);
	size_t old = bridge != NULL ? bridge->json.size : 0;

	if (bridge == NULL && b->count == MAX_KEYS)
		return err_set(e, ERR_limit_exceeded,
		    "key: the session has %d keys already, which is the limit; overwrite one of "
		    "them",
		    MAX_KEYS);
	if (b->bytes - old + json->size > MAX_BYTES)
		return err_set(e, ERR_limit_exceeded,
		    "data: %zu bytes with the session's other data are over the limit of %d",
		    b->bytes + json->size, MAX_BYTES);
	if (bridge == NULL && (bridge = add(b, key, e)) == NULL)
		return -1;
	b->bytes += json->size - old;
	blob_clear(&bridge->json);
	bridge->json = *json;
	*json = (struct blob){ 0 };
	return 0;
}

void
bridge_send(const struct bridges *b, struct program *program)
{
	struct err e;

	for (size_t i = 0; i < b->count; i++)
		if (program_bridge(program, b->items[i].key, &b->items[i].json, &e) < 0)
			log_warn("bridged data was not sent to a program", LOG_E(&e));
}

void
bridge_clear(struct bridges *b)
{
	for (size_t i = 0; i < b->count; i++) {
		free(b->items[i].key);
		blob_clear(&b->items[i].json);
	}
	free(b->items);
	*b = (struct bridges){ 0 };
}
