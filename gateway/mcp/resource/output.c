/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - the id of a text is made of its content: kept twice it is one, and the client can be
 * told before the executor has it.
 */
#include "gateway/mcp/resource/output.h"

#include "gateway/mcp/inquire.h"
#include "gateway/mcp/resource/view.h"
#include "gateway/mcp/result.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/bus/bus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEEP_MS = 60000,
	TEXT_BYTES = 67108864, /* as schema.def bounds it */
	ID = 33,
};

static void
on_kept(void *self, void *reply, const struct err *e)
{
	(void)self;
	if (reply == NULL)
		log_warn("a text that a result left out was not kept", LOG_E(e));
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
output_keep(
    const struct account *who, const char *name, const json_t *text, char uri[OUTPUT_URI_MAX])
{
	struct keep_output request = { .name = (char *)(uintptr_t)name };
	const struct ask it = { .to = PEER_executor,
		.home = true,
		.message = MSG_keep_output,
		.request = &request,
		.principal = who->principal,
		.namespace = who->namespace,
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
	snprintf(uri, OUTPUT_URI_MAX, OUTPUT_URI "%s/%.32s", id, name);
	return 0;
}

static json_t *
answer(const struct request *r, void *reply, const struct err *e)
{
	const struct output_piece *piece = reply;

	if (piece != NULL)
		return view_text(
		    r, "text/plain", json_stringn_nocheck(piece->text.data, piece->text.size));
	return e->code == ERR_not_found || e->code == ERR_invalid_argument
	           ? view_absent(r)
	           : result_rpc_error(r->origin.id, e);
}

json_t *
output_read(const struct request *r, const json_t *variables)
{
	const char *offset = json_string_value(json_object_get(variables, "offset"));
	const char *id = json_string_value(json_object_get(variables, "output_id"));
	const char *name = json_string_value(json_object_get(variables, "name"));
	struct get_output request = { .output_id = (char *)(uintptr_t)id,
		.name = (char *)(uintptr_t)name };

	if (offset != NULL && (strlen(offset) > 18 || offset[strspn(offset, "0123456789")] != '\0'))
		return method_refuse(r, "uri: '%.20s' is no offset in bytes", offset);
	if (offset != NULL) {
		request.offset = strtoull(offset, NULL, 10);
		request.size = OUTPUT_PIECE;
	}
	return inquire(r,
	    (struct ask){
		.to = PEER_executor, .home = true, .message = MSG_get_output, .request = &request },
	    answer);
}
