/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_refusals.c - what a hostile peer may put in the place of every value of every message.
 *
 * The full sample of a message is unpacked by msgpack-c, one of its values is marked, and packed
 * again; then bytes take the place of the mark.  The table of attempts says which bytes, for which
 * kinds, and what the refusal must say.
 */
#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "tests/wire/each.h"
#include "tests/wire/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

/* What is sent: a body, and frames of which only the sizes may be true. */
struct attack {
	char *body;
	size_t size;
	FILE *to;
	struct packed frames;
};

static void
put(struct attack *a, const char *bytes, size_t size)
{
	fwrite(bytes, 1, size, a->to);
}

static void
put_number(struct attack *a, unsigned char tag, uint64_t n, int bytes)
{
	fputc(tag, a->to);
	for (int i = bytes - 1; i >= 0; i--)
		fputc((int)(n >> i * 8 & 0xff), a->to);
}

static void
put_real(struct attack *a, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	put_number(a, 0xcb, bits, 8);
}

static void
put_str(struct attack *a, const char *text, size_t size)
{
	put_number(a, 0xdb, size, 4);
	put(a, text, size);
}

static void
put_filler(struct attack *a, size_t size)
{
	put_number(a, 0xdb, size, 4);
	while (size-- > 0)
		fputc('x', a->to);
}

#define KIND(k)  (1u << KIND_##k)
#define FRAMES   (KIND(PAGE) | KIND(BLOB) | KIND(ANY))
#define WHOLE    (KIND(UINT) | KIND(INT))
#define COUNTED  (KIND(TEXTS) | KIND(LIST))
#define EVERY    (~0u)
#define BYTES(s) s, sizeof(s) - 1

struct attempt {
	const char *name;
	unsigned kinds;
	const char *bytes; /* in the place of the value; or: */
	size_t size;
	bool (*make)(struct attack *, const struct target *); /* false: not for this field */
	const char *says; /* somewhere behind the path, which always comes first */
	enum err_code code;
	bool cut; /* the body ends there */
};

static bool
over_value(struct attack *a, const struct target *t)
{
	if (t->f->high == INT64_MAX)
		return false;
	if (t->f->kind == KIND_REAL)
		put_real(a, (double)t->f->high * 1.001 + 1);
	else
		put_number(a, 0xcf, (uint64_t)t->f->high + 1, 8);
	return true;
}

static bool
over_uint64(struct attack *a, const struct target *t)
{
	(void)t;
	put_number(a, 0xcf, UINT64_MAX, 8);
	return true;
}

static bool
under_value(struct attack *a, const struct target *t)
{
	if (t->f->low == INT64_MIN)
		return false;
	if (t->f->kind == KIND_REAL)
		put_real(a, (double)t->f->low - 0.5);
	else
		put_number(a, 0xd3, (uint64_t)t->f->low - 1, 8);
	return true;
}

static bool
not_finite(struct attack *a, const struct target *t)
{
	(void)t;
	put_real(a, __builtin_inf());
	return true;
}

static bool
over_text(struct attack *a, const struct target *t)
{
	put_filler(a, (size_t)t->f->high + 1);
	return true;
}

static bool
under_text(struct attack *a, const struct target *t)
{
	if (t->f->low == 0)
		return false;
	put_filler(a, (size_t)t->f->low - 1);
	return true;
}

/* Nothing of the frame may be read before its size is refused: there is nothing. */
static bool
over_frame(struct attack *a, const struct target *t)
{
	a->frames.blobs[t->frame].size = (size_t)t->f->high + 1;
	put_number(a, 0xcf, t->frame, 8);
	return true;
}

static bool
under_frame(struct attack *a, const struct target *t)
{
	if (t->f->low == 0)
		return false;
	a->frames.blobs[t->frame].size = (size_t)t->f->low - 1;
	put_number(a, 0xcf, t->frame, 8);
	return true;
}

static bool
spoil_frame(struct attack *a, const struct target *t, const char *bytes, size_t size)
{
	struct blob *b = &a->frames.blobs[t->frame];

	memcpy((char *)b->data + b->size - size, bytes, size);
	put_number(a, 0xcf, t->frame, 8);
	return true;
}

static bool
bad_utf8_in_frame(struct attack *a, const struct target *t)
{
	return spoil_frame(a, t, BYTES("\xed\xa0\x80"));
}

static bool
no_such_frame(struct attack *a, const struct target *t)
{
	put_number(a, 0xcf, t->p.count, 8);
	return true;
}

static bool
frame_of_another(struct attack *a, const struct target *t)
{
	if (t->frame == 0)
		return false;
	put_number(a, 0xcf, 0, 8);
	return true;
}

static bool
over_items(struct attack *a, const struct target *t)
{
	put_number(a, 0xdd, (uint64_t)t->f->high + 1, 4);
	return true;
}

static bool
under_items(struct attack *a, const struct target *t)
{
	if (t->f->low == 0)
		return false;
	put_number(a, 0xdd, (uint64_t)t->f->low - 1, 4);
	return true;
}

static bool
items_that_do_not_come(struct attack *a, const struct target *t)
{
	put_number(a, 0xdd, (uint64_t)t->f->high, 4);
	return true;
}

static bool
zero_in_text(struct attack *a, const struct target *t)
{
	auto_free char *text = calloc((size_t)t->f->low + 1, 1);

	memset(text, 'a', (size_t)t->f->low);
	put_str(a, text, (size_t)t->f->low + (t->f->low < t->f->high));
	return t->f->low < t->f->high;
}

static bool
bad_utf8_in_text(struct attack *a, const struct target *t)
{
	size_t size = t->f->low > 0 ? (size_t)t->f->low : 1;
	auto_free char *text = malloc(size);

	memset(text, 'a', size);
	text[size - 1] = '\xc3'; /* a character that the end cuts off */
	put_str(a, text, size);
	return true;
}

static bool
long_item(struct attack *a, const struct target *t)
{
	(void)t;
	put(a, BYTES("\x91"));
	put_filler(a, 4097);
	return true;
}

static bool
deep_arrays(struct attack *a, const struct target *t)
{
	(void)t;
	for (int i = 0; i < 100000; i++)
		fputc(0x91, a->to);
	return true;
}

static bool
deep_maps(struct attack *a, const struct target *t)
{
	(void)t;
	for (int i = 0; i < 100000; i++)
		put(a, BYTES("\x81\xa1"
			     "a"));
	return true;
}

/* clang-format off */
static const struct attempt attempts[] = {
	{ "nil",             EVERY, BYTES("\xc0"), .says = ": expected " },
	{ "the byte unused", EVERY, BYTES("\xc1"), .says = ": expected " },
	{ "a flag",          EVERY & ~KIND(FLAG), BYTES("\xc3"), .says = ": expected " },
	{ "a number",        EVERY & ~WHOLE & ~FRAMES, BYTES("\x01"), .says = ": expected " },
	{ "below zero",      EVERY & ~WHOLE, BYTES("\xff"), .says = ": expected " },
	{ "a double",        EVERY & ~KIND(REAL), BYTES("\xcb\0\0\0\0\0\0\0\0"), .says = ": expected " },
	{ "a float",         EVERY, BYTES("\xca\0\0\0\0"), .says = ": expected " },
	{ "text",            EVERY & ~KIND(TEXT) & ~KIND(WORD), BYTES("\xa1" "1"), .says = ": expected " },
	{ "bin",             EVERY, BYTES("\xc4\x01" "1"), .says = ": expected " },
	{ "ext",             EVERY, BYTES("\xd4\x01" "1"), .says = ": expected " },
	{ "an array",        EVERY & ~COUNTED, BYTES("\x90"), .says = ": expected " },
	{ "a map",           EVERY & ~KIND(ITEM), BYTES("\x80"), .says = ": expected " },
	{ "deep arrays",     EVERY, .make = deep_arrays, .says = "", .cut = true },
	{ "deep maps",       EVERY, .make = deep_maps, .says = "", .cut = true },
	{ "nothing",         EVERY, BYTES(""), .says = "the body ends early", .cut = true },
	{ "half a number",   EVERY, BYTES("\xcf\x01\x01"), .says = "the body ends early", .cut = true },
	{ "a huge text",     EVERY, BYTES("\xdb\xff\xff\xff\xff" "x"), .says = "the body ends early", .cut = true },
	{ "a huge array",    COUNTED, BYTES("\xdd\xff\xff\xff\xff"), .says = "4294967295 items are over the limit of ", .code = ERR_limit_exceeded, .cut = true },
	{ "a huge map",      KIND(ITEM), BYTES("\xdf\xff\xff\xff\xff"), .says = "the body ends early", .cut = true },
	{ "over the limit",  WHOLE | KIND(REAL), .make = over_value, .says = " is over the limit of ", .code = ERR_limit_exceeded },
	{ "all bits",        WHOLE, .make = over_uint64, .says = "18446744073709551615 is over the limit of ", .code = ERR_limit_exceeded },
	{ "under the limit", WHOLE | KIND(REAL), .make = under_value, .says = " is under the minimum of " },
	{ "infinity",        KIND(REAL), .make = not_finite, .says = "not a finite number" },
	{ "not a number",    KIND(REAL), BYTES("\xcb\x7f\xf8\0\0\0\0\0\0"), .says = "not a finite number" },
	{ "too long",        KIND(TEXT), .make = over_text, .says = " are over the limit of ", .code = ERR_limit_exceeded },
	{ "too short",       KIND(TEXT), .make = under_text, .says = " under the minimum of " },
	{ "a zero byte",     KIND(TEXT), .make = zero_in_text, .says = "has a zero byte" },
	{ "bad UTF-8",       KIND(TEXT), .make = bad_utf8_in_text, .says = "not UTF-8" },
	{ "no such word",    KIND(WORD), BYTES("\xa4" "wor\0"), .says = " is not one of " },
	{ "an empty word",   KIND(WORD), BYTES("\xa0"), .says = " is not one of " },
	{ "frame too long",  FRAMES, .make = over_frame, .says = " are over the limit of ", .code = ERR_limit_exceeded },
	{ "frame too short", FRAMES, .make = under_frame, .says = " under the minimum of " },
	{ "no such frame",   FRAMES, .make = no_such_frame, .says = "no blob " },
	{ "huge frame",      FRAMES, BYTES("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"), .says = "no blob " },
	{ "frame used",      FRAMES, .make = frame_of_another, .says = "is used twice" },
	{ "UTF-8 in page",   KIND(PAGE), .make = bad_utf8_in_frame, .says = "not UTF-8" },
	{ "too many",        COUNTED, .make = over_items, .says = " are over the limit of ", .code = ERR_limit_exceeded },
	{ "too few",         COUNTED, .make = under_items, .says = " under the minimum of " },
	{ "many, not there", COUNTED, .make = items_that_do_not_come, .says = "the body ends early", .cut = true },
	{ "items: numbers",  COUNTED, BYTES("\x91\x01"), .says = "not a " },
	{ "items: zero",     KIND(TEXTS), BYTES("\x91\xa1\0"), .says = "has a zero byte" },
	{ "items: UTF-8",    KIND(TEXTS), BYTES("\x91\xa1\xff"), .says = "not UTF-8" },
	{ "items: long",     KIND(TEXTS), .make = long_item, .says = "4097 bytes are over the limit of 4096", .code = ERR_limit_exceeded },
};
/* clang-format on */

/* ---- trying them ---- */

static int
decode(const struct target *t, const void *body, size_t size, const struct packed *frames,
    void *msg, struct err *e)
{
	/* Of its exact size, so that a sanitizer sees a byte too far. */
	auto_free char *exact = malloc(size + (size == 0));
	struct packed p = { { exact, size }, frames->blobs, frames->count };

	memcpy(exact, body, size);
	*e = (struct err){ 0 };
	return wire_decode(t->id, &p, msg, e);
}

static void
check_refused(const struct target *t, const char *what, const void *body, size_t size,
    const struct packed *frames, const char *says, enum err_code code)
{
	void *msg = sample_empty(t->id);
	struct err e;

	if (decode(t, body, size, frames, msg, &e) == 0)
		fail_msg("%s, %s: %s was taken", messages[t->id].name, t->path, what);
	if (e.code != code || strstr(e.text, says) == NULL ||
	    strncmp(e.text, t->path, strlen(t->path)) != 0)
		fail_msg("%s, %s: %s: %s, '%s'", messages[t->id].name, t->path, what,
		    err_name(e.code), e.text);
	assert_true(utf8_valid(e.text, strlen(e.text)));
	assert_true(sample_is_zero(t->id, msg));
	sample_free(t->id, msg);
}

static void
try_attempt(const struct target *t, const struct attempt *x)
{
	const char *body = t->p.body.data, *end = body + t->p.body.size;
	const char *at = memmem(body, t->p.body.size, TARGET_MARK, sizeof TARGET_MARK - 1);
	struct attack a = { .frames = sample_copy(&t->p) };

	assert_non_null(at);
	a.to = open_memstream(&a.body, &a.size);
	put(&a, body, (size_t)(at - 1 - body)); /* 1: the mark's own length */

	bool applies = x->make == NULL || x->make(&a, t);

	if (x->make == NULL)
		put(&a, x->bytes, x->size);
	at += sizeof TARGET_MARK - 1;
	if (!x->cut)
		put(&a, at, (size_t)(end - at));
	fclose(a.to);
	if (applies)
		check_refused(t, x->name, a.body, a.size, &a.frames, x->says,
		    x->code != ERR_none ? x->code : ERR_invalid_argument);
	free(a.body);
	packed_clear(&a.frames);
}

static void
wrong_values(void **state)
{
	struct target t;

	for (size_t n = 0; target_open(&t, each_id(state), CHANGE_MARK, n); n++) {
		for (const struct attempt *x = attempts; x < attempts + COUNT(attempts); x++)
			if ((x->kinds & 1u << t.f->kind) != 0)
				try_attempt(&t, x);
		packed_clear(&t.p);
	}
}

static void
keys_twice(void **state)
{
	struct target t;

	for (size_t n = 0; target_open(&t, each_id(state), CHANGE_DOUBLE, n); n++) {
		check_refused(&t, "twice", t.p.body.data, t.p.body.size, &t.p, ": repeated",
		    ERR_invalid_argument);
		packed_clear(&t.p);
	}
}

static void
keys_missing(void **state)
{
	struct target t;

	for (size_t n = 0; target_open(&t, each_id(state), CHANGE_REMOVE, n); n++) {
		void *msg = sample_empty(t.id);
		struct err e;

		if (t.f->needed)
			check_refused(&t, "missing", t.p.body.data, t.p.body.size, &t.p,
			    ": missing", ERR_invalid_argument);
		else if (decode(&t, t.p.body.data, t.p.body.size, &t.p, msg, &e) < 0)
			assert_non_null(strstr(e.text, "is not used")); /* the frame it had */
		sample_free(t.id, msg);
		packed_clear(&t.p);
	}
}

static void
keys_unknown(void **state)
{
	static const struct {
		const char *key;
		size_t size;
		const char *says;
	} keys[] = {
		{ BYTES("\xa7"
			"unheard"),
		    "unheard: unknown argument; known: " },
		{ BYTES("\xa0"), ": unknown argument; known: " },
		{ BYTES("\xa4"
			"a\n\xff"
			"b"),
		    "a??b: unknown argument; known: " },
		{ BYTES("\xd9\x40" TARGET_MARK TARGET_MARK TARGET_MARK "0"),
		    TARGET_MARK TARGET_MARK "<the: unknown" },
		{ BYTES("\x01"), "?: a key is not a string" },
		{ BYTES("\xc0"), "?: a key is not a string" },
		{ BYTES("\x91\xa1"
			"a"),
		    "?: a key is not a string" },
	};
	struct target t;

	for (size_t n = 0; target_open(&t, each_id(state), CHANGE_MARK, n); n++) {
		const char *body = t.p.body.data;
		const char *at = memmem(body, t.p.body.size, TARGET_MARK, sizeof TARGET_MARK - 1);
		size_t before = (size_t)(at - 1 - body) - strlen(t.f->name) - 1;

		/* The path is now that of what holds the field. */
		t.path[strlen(t.path) - strlen(t.f->name)] = 0;
		for (size_t k = 0; k < COUNT(keys); k++) {
			auto_free char *changed = NULL;
			struct packed frames = sample_copy(&t.p);
			size_t size;
			FILE *to = open_memstream(&changed, &size);

			fwrite(body, 1, before, to);
			fwrite(keys[k].key, 1, keys[k].size, to);
			fwrite(at - 1, 1, (size_t)(body + t.p.body.size - at) + 1, to);
			fclose(to);
			check_refused(&t, "unknown key", changed, size, &frames, keys[k].says,
			    ERR_invalid_argument);
			packed_clear(&frames);
		}
		packed_clear(&t.p);
	}
}

/* ---- bodies and frames as a whole ---- */

static void
cut_anywhere(void **state)
{
	struct target t = { .id = each_id(state) };
	struct packed p = sample_packed(t.id, SAMPLE_FULL);

	for (size_t size = 0; size < p.body.size; size++) {
		struct packed frames = sample_copy(&p);

		check_refused(&t, "cut", p.body.data, size, &frames, "", ERR_invalid_argument);
		packed_clear(&frames);
	}
	packed_clear(&p);
}

static void
bytes_behind(void **state)
{
	struct target t = { .id = each_id(state) };
	struct packed p = sample_packed(t.id, SAMPLE_FULL);
	struct blob longer = blob_copy(p.body.data, p.body.size);

	longer.size++; /* blob_copy puts a zero byte behind: a valid token */
	check_refused(&t, "a byte more", longer.data, longer.size, &p, "1 bytes after the body",
	    ERR_invalid_argument);
	blob_clear(&longer);
	packed_clear(&p);
}

static void
frames_too_many(void **state)
{
	struct target t = { .id = each_id(state) };
	struct packed p = sample_packed(t.id, SAMPLE_FULL), frames = sample_copy(&p);
	char says[64];

	snprintf(says, sizeof says, "blob %zu is not used", p.count);
	frames.blobs[frames.count++] = blob_text("more");
	check_refused(
	    &t, "a frame more", p.body.data, p.body.size, &frames, says, ERR_invalid_argument);
	frames.blobs = reallocarray(frames.blobs, WIRE_MAX_BLOBS + 1, sizeof *frames.blobs);
	memset(frames.blobs + frames.count, 0,
	    (WIRE_MAX_BLOBS + 1 - frames.count) * sizeof *frames.blobs);
	frames.count = WIRE_MAX_BLOBS + 1;
	check_refused(&t, "a thousand frames", p.body.data, p.body.size, &frames,
	    "1025 blobs are over the limit of 1024", ERR_limit_exceeded);
	packed_clear(&frames);
	packed_clear(&p);
}

static void
not_a_map(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *says;
		enum err_code code;
	} bodies[] = {
		{ BYTES(""), "the body ends early", ERR_invalid_argument },
		{ BYTES("\xc0"), "the body is not a map", ERR_invalid_argument },
		{ BYTES("\x90"), "the body is not a map", ERR_invalid_argument },
		{ BYTES("\xdd\xff\xff\xff\xff"), "the body is not a map", ERR_invalid_argument },
		{ BYTES("\xdf\xff\xff\xff\xff"), "the body ends early", ERR_invalid_argument },
		{ BYTES("\xdf\xff\xff"), "the body ends early", ERR_invalid_argument },
	};
	struct target t = { .id = each_id(state) };
	const struct packed none = { 0 };

	for (size_t i = 0; i < COUNT(bodies); i++)
		check_refused(&t, "not a map", bodies[i].bytes, bodies[i].size, &none,
		    bodies[i].says, bodies[i].code);
}

/* A peer's word alone must not make us take memory: no test here needs this much at once. */
enum {
	MEMORY_MB = 64,
};

const char *__asan_default_options(void);
const char *
__asan_default_options(void)
{
	return "max_allocation_size_mb=64";
}

int
main(void)
{
	static const struct check checks[] = {
		{ "wrong values", wrong_values },
		{ "keys twice", keys_twice },
		{ "keys missing", keys_missing },
		{ "keys unknown", keys_unknown },
		{ "cut anywhere", cut_anywhere },
		{ "bytes behind", bytes_behind },
		{ "frames too many", frames_too_many },
		{ "not a map", not_a_map },
	};

#ifndef SANITIZED /* which has an address space of terabytes */
	must(setrlimit(RLIMIT_AS, &(struct rlimit){ MEMORY_MB << 20, MEMORY_MB << 20 }) == 0);
#endif
	return each_run("refusals", checks, COUNT(checks), NULL);
}
