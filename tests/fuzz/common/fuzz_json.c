/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_json.c - arguments as a model may write them.
 *
 * Input: which message (1 byte), and what is left is JSON.  What is taken fits on the wire, and its
 * own JSON form is taken again and means the same.
 */
#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "common/codec/jschema.h"
#include "common/codec/wire.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct packed
pack(enum msg_id id, const json_t *json)
{
	auto_free void *msg = calloc(1, messages[id].size);
	struct packed p;
	struct err e;

	must(jschema_read_own(id, json, msg, &e) == 0);
	must(wire_encode(id, msg, &p, &e) == 0);
	message_clear(id, msg);
	return p;
}

static void
check_taken(enum msg_id id, const json_t *json, const void *msg)
{
	json_t *written = jschema_write(id, msg);

	must(written != NULL);

	struct packed once = pack(id, json), twice = pack(id, written);

	must(once.body.size == twice.body.size &&
	     memcmp(once.body.data, twice.body.data, once.body.size) == 0);
	must(once.count == twice.count);
	packed_clear(&once);
	packed_clear(&twice);
	json_decref(written);
}

static void
check_refused(enum msg_id id, const char *msg, const struct err *e)
{
	must(e->code != ERR_none && e->text[0] != 0 && utf8_valid(e->text, strlen(e->text)));
	for (size_t i = 0; i < messages[id].size; i++)
		must(msg[i] == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
	struct err e = { 0 };

	if (size < 1)
		return -1;

	enum msg_id id = data[0] % (MSG_COUNT - 1) + 1;
	auto_free void *msg = calloc(1, messages[id].size);
	json_t *json = json_loadb((const char *)data + 1, size - 1, flags, NULL);

	if (json == NULL)
		return 0;
	if (jschema_read_own(id, json, msg, &e) == 0)
		check_taken(id, json, msg);
	else
		check_refused(id, msg, &e);
	message_clear(id, msg);
	json_decref(json);
	return 0;
}
