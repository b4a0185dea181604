/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bitflips.c - every message with each of its bits turned over, in body and frames.
 *
 * Whatever comes out is taken whole or refused whole: what is taken can be sent on, written as JSON
 * and is msgpack for others too; what is refused leaves nothing behind.  Leaks and reads out of
 * bounds are for the sanitizers to see.
 */
#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "common/codec/jschema.h"
#include "tests/wire/each.h"
#include "tests/wire/sample.h"

#include <msgpack.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void
check_is_msgpack(const struct blob *body)
{
	msgpack_unpacked u;
	size_t used = 0;

	msgpack_unpacked_init(&u);
	assert_int_equal(
	    msgpack_unpack_next(&u, body->data, body->size, &used), MSGPACK_UNPACK_SUCCESS);
	assert_int_equal(used, body->size);
	msgpack_unpacked_destroy(&u);
}

static void
check_can_go_on(enum msg_id id, void *msg)
{
	json_t *json = jschema_write(id, msg);
	struct packed again;
	struct err e;

	assert_non_null(json);
	json_decref(json);
	assert_int_equal(wire_encode(id, msg, &again, &e), 0);
	packed_clear(&again);
}

/* Decodes *p, whose frames are spent. */
static bool
decodes(enum msg_id id, struct packed *p)
{
	void *msg = sample_empty(id);
	struct err e = { 0 };
	bool taken = wire_decode(id, p, msg, &e) == 0;

	if (taken) {
		check_is_msgpack(&p->body);
		check_can_go_on(id, msg);
	} else {
		assert_int_not_equal(e.code, ERR_none);
		assert_int_not_equal(strlen(e.text), 0);
		assert_true(utf8_valid(e.text, strlen(e.text)));
		assert_true(sample_is_zero(id, msg));
	}
	sample_free(id, msg);
	return taken;
}

/* Room of exactly its size, so that a sanitizer sees a byte too far. */
static void
tighten(struct blob *b)
{
	void *exact = malloc(b->size + (b->size == 0));

	memcpy(exact, b->data, b->size);
	free(b->data);
	b->data = exact;
}

static void
bits_of_the_body(void **state)
{
	enum msg_id id = each_id(state);
	struct packed p = sample_packed(id, SAMPLE_FULL);
	size_t refused = 0;

	for (size_t bit = 0; bit < p.body.size * 8; bit++) {
		struct packed flipped = sample_copy(&p);

		((unsigned char *)flipped.body.data)[bit / 8] ^= (unsigned char)(1 << bit % 8);
		tighten(&flipped.body);
		refused += !decodes(id, &flipped);
		packed_clear(&flipped);
	}
	/* A key alone has enough bits that must not be turned. */
	assert_true(refused >= strlen(messages[id].fields[0].name) * 8);
	packed_clear(&p);
}

static void
bits_of_frames(void **state)
{
	enum msg_id id = each_id(state);
	struct packed p = sample_packed(id, SAMPLE_FULL);

	for (size_t i = 0; i < p.count; i++) {
		for (size_t bit = 0; bit < p.blobs[i].size * 8; bit++) {
			struct packed flipped = sample_copy(&p);

			((unsigned char *)flipped.blobs[i].data)[bit / 8] ^=
			    (unsigned char)(1 << bit % 8);
			tighten(&flipped.blobs[i]);
			decodes(id, &flipped);
			packed_clear(&flipped);
		}
	}
	packed_clear(&p);
}

/* Two bytes at once reach what one bit cannot: a length and what it is the length of. */
static void
bytes_at_random(void **state)
{
	enum msg_id id = each_id(state);
	struct packed p = sample_packed(id, SAMPLE_FULL);
	unsigned seed = 1;

	for (int round = 0; round < 1000; round++) {
		struct packed changed = sample_copy(&p);

		for (int i = 0; i < 2; i++) {
			seed = seed * 1103515245 + 12345;
			((unsigned char *)changed.body.data)[(seed >> 8) % p.body.size] =
			    (unsigned char)(seed >> 24);
		}
		tighten(&changed.body);
		decodes(id, &changed);
		packed_clear(&changed);
	}
	packed_clear(&p);
}

int
main(void)
{
	static const struct check checks[] = {
		{ "bits of the body", bits_of_the_body },
		{ "bits of frames", bits_of_frames },
		{ "bytes at random", bytes_at_random },
	};

	return each_run("bitflips", checks, COUNT(checks), NULL);
}
