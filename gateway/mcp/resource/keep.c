/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.c - the id of a text is derived from its content.  So a text that is kept twice has one id,
 * and the client can get the URI before the executor has the text.
 */
#include "gateway/mcp/resource/keep.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/bus/bus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEEP_MS = 60000,
	TEXT_BYTES = 67108864, /* the bound of schema.def */
	ID = 33,
};

static void
on_kept(void *self, void *reply, const struct err *e)
{
	(void)self;
	if (reply == NULL)
		log_warn("text that a result contains only in part not stored", LOG_E(e));
}

static void
make_id(const char *name, const struct blob *text, char id[ID])
{
	char hex[HASH_HEX];
	struct hash h;

	hash_begin(&h);
	hash_add(&h, name, strlen(name) + 1);
	hash_add(&h, text->data, text->size);
	hash_end_hex(&h, hex);
	snprintf(id, ID, "%.32s", hex);
}

int
keep_text(const struct account *who, const char *name, const json_t *text, char uri[KEEP_URI_MAX])
{
	struct keep_output request = { .name = (char *)(uintptr_t)name };
	const struct ask it = { .to = PEER_executor,
		.home = true,
		.message = MSG_keep_output,
		.request = &request,
		.owner = &who->owner,
		.timeout_ms = KEEP_MS,
		.done = on_kept };
	char id[ID];
	struct err e;

	if (json_string_length(text) > TEXT_BYTES || !bus_ready(PEER_executor, NULL))
		return -1;
	request.text = blob_copy(json_string_value(text), json_string_length(text));
	if (request.text.data == NULL)
		return -1;
	make_id(name, &request.text, id);
	request.output_id = id;

	bool asked = bus_ask(&it, &e) != 0;

	blob_clear(&request.text);
	if (!asked)
		return -1;
	snprintf(uri, KEEP_URI_MAX, KEEP_URI "%s/%.32s", id, name);
	return 0;
}
