/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wire.c - a message as a compromised peer may send it.
 *
 * Input: which message (1 byte), how many frames (1), each frame (size in 2, little endian, and its
 * bytes), and what is left is the body.  What is taken must come out of a second trip unchanged, be
 * msgpack for the library too, and have a JSON form.
 */
#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "common/codec/jschema.h"
#include "common/codec/wire.h"

#include <msgpack.h>

#include <string.h>

enum {
	MAX_FRAMES = 8,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_is_msgpack(const uint8_t *body, size_t size)
{
	msgpack_unpacked u;
	size_t used = 0;

	msgpack_unpacked_init(&u);
	must(msgpack_unpack_next(&u, (const char *)body, size, &used) == MSGPACK_UNPACK_SUCCESS);
	must(used == size);
	msgpack_unpacked_destroy(&u);
}

static void
check_taken(enum msg_id id, void *msg)
{
	auto_free void *again = calloc(1, messages[id].size);
	json_t *json = jschema_write(id, msg);
	struct packed once, twice;
	struct err e;

	must(json != NULL);
	json_decref(json);
	must(wire_encode(id, msg, &once, &e) == 0);
	must(wire_decode(id, &once, again, &e) == 0);
	must(wire_encode(id, again, &twice, &e) == 0);
	must(once.body.size == twice.body.size &&
	     memcmp(once.body.data, twice.body.data, once.body.size) == 0);
	must(once.count == twice.count);
	packed_clear(&once);
	packed_clear(&twice);
	message_clear(id, again);
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
	struct blob frames[MAX_FRAMES] = { 0 };
	const uint8_t *end = data + size;
	struct err e = { 0 };

	if (size < 2)
		return -1;

	enum msg_id id = data[0] % (MSG_COUNT - 1) + 1;
	size_t count = data[1] % (MAX_FRAMES + 1);
	auto_free void *msg = calloc(1, messages[id].size);

	data += 2;
	for (size_t i = 0; i < count; i++) {
		size_t wanted = end - data >= 2 ? (size_t)data[0] | (size_t)data[1] << 8 : 0;

		data += end - data >= 2 ? 2 : 0;
		wanted = wanted < (size_t)(end - data) ? wanted : (size_t)(end - data);
		frames[i] = blob_copy(data, wanted);
		data += wanted;
	}
	struct packed p = { { (void *)data, (size_t)(end - data) }, frames, count };

	if (wire_decode(id, &p, msg, &e) == 0) {
		check_is_msgpack(data, p.body.size);
		check_taken(id, msg);
	} else {
		check_refused(id, msg, &e);
	}
	message_clear(id, msg);
	for (size_t i = 0; i < count; i++)
		blob_clear(&frames[i]);
	return 0;
}
