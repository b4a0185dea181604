/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_json.c - what a model may put in the place of every argument of every message.
 *
 * The JSON of the full sample is spoilt in one place after the other, and mended again.
 */
#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "common/codec/jschema.h"
#include "tests/wire/each.h"
#include "tests/wire/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KIND(k) (1u << KIND_##k)
#define STRINGS (KIND(TEXT) | KIND(PAGE) | KIND(BLOB) | KIND(WORD))
#define NUMBERS (KIND(UINT) | KIND(INT) | KIND(REAL))
#define WHOLE   (KIND(UINT) | KIND(INT))
#define COUNTED (KIND(TEXTS) | KIND(LIST))
#define TYPED   (~KIND(ANY))

/* Beyond this a text would only cost time; unit tests have the large ones. */
enum {
	LONG_TEXT = 2 << 20,
};

struct place {
	enum msg_id id;
	json_t *whole, *holder;
	char path[160]; /* of the holder, "files[1]." */
};

struct attempt {
	const char *name;
	unsigned kinds;
	const char *json;                      /* in the place of the value; or: */
	json_t *(*make)(const struct field *); /* NULL: not for this field */
	const char *says;
	enum err_code code;
};

static json_t *
over_value(const struct field *f)
{
	return f->high < INT64_MAX ? json_integer(f->high + 1) : NULL;
}

static json_t *
under_value(const struct field *f)
{
	return f->low > INT64_MIN ? json_integer(f->low - 1) : NULL;
}

static json_t *
filler(size_t size)
{
	auto_free char *text = malloc(size + 1);

	must(text != NULL);
	memset(text, 'x', size);
	text[size] = 0;
	return json_stringn(text, size);
}

static json_t *
over_text(const struct field *f)
{
	return f->high < LONG_TEXT ? filler((size_t)f->high + 1) : NULL;
}

/* "" is what models write for an optional field that they leave out. */
static json_t *
under_text(const struct field *f)
{
	return f->low > (f->needed ? 0 : 1) ? filler((size_t)f->low - 1) : NULL;
}

static json_t *
zero_in_text(const struct field *f)
{
	json_t *longer = filler((size_t)f->low);
	json_t *zero = json_pack("s+#", json_string_value(longer), "\0", 1);

	json_decref(longer);
	return f->low < f->high ? zero : (json_decref(zero), NULL);
}

static json_t *
over_items(const struct field *f)
{
	json_t *array = json_array();

	for (int64_t i = 0; i <= f->high; i++)
		json_array_append_new(array, json_true());
	return array;
}

static json_t *
under_items(const struct field *f)
{
	return f->low > 0 ? json_array() : NULL;
}

static json_t *
empty_word(const struct field *f)
{
	return f->needed ? json_string("") : NULL;
}

/* clang-format off */
static const struct attempt attempts[] = {
	{ "true",            TYPED & ~KIND(FLAG), "true", .says = ", got true" },
	{ "a number",        TYPED & ~NUMBERS, "1", .says = ", got a number" },
	{ "a fraction",      TYPED & ~NUMBERS, "0.5", .says = ", got a number with a fraction" },
	{ "not whole",       WHOLE, "1.5", .says = ": 1.5 is not an integer" },
	{ "far out",         NUMBERS, "1e300", .says = ": 1e+300 is over the limit of ", .code = ERR_limit_exceeded },
	{ "far below",       NUMBERS, "-1e300", .says = ": -1e+300 is under the minimum of " },
	{ "text",            TYPED & ~STRINGS, "\"one\"", .says = ", got a string" },
	{ "text of null",    TYPED & ~STRINGS, "\"null\"", .says = ", got a string" },
	{ "text of a text",  TYPED & ~STRINGS, "\"\\\"1\\\"\"", .says = ", got a string" },
	{ "an array",        TYPED & ~COUNTED, "[]", .says = ", got an array" },
	{ "an object",       TYPED & ~KIND(ITEM), "{}", .says = ", got an object" },
	{ "over the limit",  NUMBERS, .make = over_value, .says = " is over the limit of ", .code = ERR_limit_exceeded },
	{ "under the limit", NUMBERS, .make = under_value, .says = " is under the minimum of " },
	{ "too long",        KIND(TEXT) | KIND(PAGE), .make = over_text, .says = " over the limit of ", .code = ERR_limit_exceeded },
	{ "too short",       KIND(TEXT) | KIND(PAGE), .make = under_text, .says = " under the minimum of " },
	{ "a zero byte",     KIND(TEXT) | KIND(PAGE), .make = zero_in_text, .says = ": has a zero byte" },
	{ "no such word",    KIND(WORD), "\"nonesuch\"", .says = ": 'nonesuch' is not one of " },
	{ "an empty word",   KIND(WORD), .make = empty_word, .says = ": '' is not one of " },
	{ "no base64",       KIND(BLOB), "\"%%%%\"", .says = ": not base64" },
	{ "no padding",      KIND(BLOB), "\"YQ\"", .says = ": not base64" },
	{ "a line break",    KIND(BLOB), "\"YW\\nFh\"", .says = ": not base64" },
	{ "bits left over",  KIND(BLOB), "\"YR==\"", .says = ": not base64" },
	{ "more behind",     KIND(BLOB), "\"YQ==YQ==\"", .says = ": not base64" },
	{ "for web sites",   KIND(BLOB), "\"-_-_\"", .says = ": not base64" },
	{ "too many",        COUNTED, .make = over_items, .says = " are over the limit of ", .code = ERR_limit_exceeded },
	{ "too few",         COUNTED, .make = under_items, .says = " under the minimum of " },
	{ "items: numbers",  COUNTED, "[1]", .says = ", got a number" },
	{ "items: null",     COUNTED, "[null]", .says = ", got null" },
	{ "items: zero",     KIND(TEXTS), "[\"a\\u0000\"]", .says = "[0]: has a zero byte" },
};
/* clang-format on */

static void
check_refused(
    const struct place *p, const char *name, const char *what, const char *says, enum err_code code)
{
	char path[256];
	void *msg = sample_empty(p->id);
	struct err e = { 0 };

	snprintf(path, sizeof path, "%s%s", p->path, name);
	if (jschema_read_own(p->id, p->whole, msg, &e) == 0)
		fail_msg("%s, %s: %s was taken", messages[p->id].name, path, what);
	if (e.code != code || strstr(e.text, says) == NULL ||
	    strncmp(e.text, path, strlen(path)) != 0)
		fail_msg("%s, %s: %s: %s, '%s'", messages[p->id].name, path, what, err_name(e.code),
		    e.text);
	assert_true(utf8_valid(e.text, strlen(e.text)));
	assert_true(sample_is_zero(p->id, msg));
	sample_free(p->id, msg);
}

static void
spoil(const struct place *p, const struct field *f)
{
	json_t *good = json_incref(json_object_get(p->holder, f->name));

	for (const struct attempt *x = attempts; x < attempts + COUNT(attempts); x++) {
		const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL;

		if ((x->kinds & 1u << f->kind) == 0)
			continue;

		json_t *bad = x->make != NULL ? x->make(f) : json_loads(x->json, flags, NULL);

		if (bad == NULL) {
			assert_non_null(x->make);
			continue;
		}
		json_object_set_new(p->holder, f->name, bad);
		check_refused(p, f->name, x->name, x->says,
		    x->code != ERR_none ? x->code : ERR_invalid_argument);
	}
	if (f->needed) {
		json_object_del(p->holder, f->name);
		check_refused(p, f->name, "missing", ": missing", ERR_invalid_argument);
	}
	if (f->needed && f->kind != KIND_ANY) {
		json_object_set_new(p->holder, f->name, json_null());
		check_refused(p, f->name, "null", ", got null", ERR_invalid_argument);
	}
	json_object_set_new(p->holder, f->name, good);
}

static void
spoil_all(const struct place *p, enum msg_id holder)
{
	const struct message *m = &messages[holder];

	json_object_set_new(p->holder, "unheard", json_true());
	check_refused(
	    p, "unheard", "an unknown key", ": unknown argument; known: ", ERR_invalid_argument);
	json_object_del(p->holder, "unheard");
	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		json_t *value = json_object_get(p->holder, f->name);
		struct place inner = { .id = p->id, .whole = p->whole, .holder = value };
		size_t last = json_array_size(value);

		if (f->kind == KIND_ITEM)
			snprintf(inner.path, sizeof inner.path, "%.80s%.70s.", p->path, f->name);
		if (f->kind == KIND_LIST && last > 0) {
			snprintf(inner.path, sizeof inner.path, "%.70s%.60s[%zu].", p->path,
			    f->name, last - 1);
			inner.holder = json_array_get(value, last - 1);
		}
		if (inner.path[0] != 0)
			spoil_all(&inner, f->of);
		spoil(p, f);
	}
}

static void
wrong_values(void **state)
{
	struct place p = { .id = each_id(state) };
	void *msg = sample_new(p.id, SAMPLE_FULL);

	p.whole = p.holder = jschema_write(p.id, msg);
	sample_free(p.id, msg);
	spoil_all(&p, p.id);

	/* All has been mended: what was refused was refused for what was spoilt. */
	struct err e;

	msg = sample_empty(p.id);
	assert_int_equal(jschema_read_own(p.id, p.whole, msg, &e), 0);
	sample_free(p.id, msg);
	json_decref(p.whole);
}

static void
not_an_object(void **state)
{
	static const char *const values[] = { "[]", "null", "\"code\"", "1" };

	for (size_t i = 0; i < COUNT(values); i++) {
		struct place p = { .id = each_id(state) };

		p.whole = json_loads(values[i], JSON_DECODE_ANY, NULL);
		check_refused(&p, "arguments", values[i], ": not an object", ERR_invalid_argument);
		json_decref(p.whole);
	}
}

int
main(void)
{
	static const struct check checks[] = {
		{ "wrong values", wrong_values },
		{ "not an object", not_an_object },
	};

	return each_run("json", checks, COUNT(checks), NULL);
}
