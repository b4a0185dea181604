/* SPDX-License-Identifier: Apache-2.0 */
/* forge.c - an encoder that walks the table like wire_encode() but follows only the rules that
 * it is given.  Runs in tests only. */
#include "tests/hostile/forge.h"

#include "common/base/auto.h"

#include <math.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

struct forger {
	struct dice *dice;
	enum forge how;
	size_t budget;
	msgpack_sbuffer body;
	msgpack_packer pk;
	struct packed *out;
};

static const char *const texts[] = {
	"x",
	"",
	" ",
	"/etc/passwd",
	"../../../../etc/passwd",
	"/workspace/../../etc/shadow",
	"a/../../b",
	"CON",
	"%00%2e%2e%2f",
	"\r\nSet-Cookie: a=b\r\n\r\n<html>",
	"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
	"\"}],\"isError\":false,\"x\":[{\"y\":\"",
	"\xe2\x80\xa8\xe2\x80\xae\xef\xbb\xbf",
	"\x1b]0;title\x07\x1b[2J",
	"\x7f\x01\x02\x1f",
	"\xf4\x8f\xbf\xbf\xef\xbf\xbf",
	"file:///etc/passwd",
	"javascript:alert(1)",
	"https://example.org/?a=b#c d",
	"%s%n%s%n%99999999d",
	"sess_1_00000000000000000000000000000000",
	"sess_2_0123456789abcdef0123456789abcdef",
	"text/html; charset=utf-8\"",
	"image/png",
	"image/svg+xml",
	"text/plain",
	"-1",
	"1e999999",
	"__proto__",
	"none",
};

static const char *const values[] = {
	"null",
	"{}",
	"{\"a\":[1,2.5,true,null,\"x\"]}",
	"",
	" ",
	"nul",
	"[1,2",
	"{\"a\":1,\"a\":2}",
	"1e999",
	"-0",
	"99999999999999999999999999999999",
	"\"\\ud800\"",
	"\"\\u0000\"",
	"\xff\xfe",
	"{\"a\":1}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
	"{\"\":{\"\":{\"\":[]}}}",
	"]]]]",
	"\"unfinished",
	"NaN",
};

const char *
forge_text(struct dice *d, size_t size)
{
	const char *text;

	do
		text = texts[dice_below(d, COUNT(texts))];
	while (strlen(text) > size);
	return text;
}

/* ---- tokens ---- */

static void
put_text(struct forger *f, const char *text, size_t size)
{
	msgpack_pack_str(&f->pk, size);
	msgpack_pack_str_body(&f->pk, text, size);
}

/* A value of a type that the field cannot have. */
static void
put_nonsense(struct forger *f)
{
	static const uint8_t heads[] = { 0xc0, 0xc1, 0xc4, 0xc7, 0xd4, 0xdb, 0xdd, 0xdf, 0xcb,
		0xff };
	uint8_t head = heads[dice_below(f->dice, sizeof heads)];

	switch (dice_below(f->dice, 6)) {
	case 0:
		msgpack_pack_true(&f->pk);
		break;
	case 1:
		msgpack_pack_array(&f->pk, UINT32_MAX);
		break;
	case 2:
		msgpack_pack_map(&f->pk, UINT32_MAX);
		break;
	case 3:
		msgpack_pack_uint64(&f->pk, UINT64_MAX);
		break;
	case 4:
		for (int i = 0; i < 4096; i++)
			msgpack_pack_array(&f->pk, 1);
		break;
	default:
		msgpack_sbuffer_write(&f->body, (const char *)&head, 1);
		break;
	}
}

/* ---- texts and bytes ---- */

/* Number of bytes, within the bounds and the rest of the budget. */
static size_t
length(struct forger *f, const struct field *field)
{
	size_t low = (size_t)field->low, high = (size_t)field->high, wanted;
	size_t most = high < f->budget ? high : f->budget;

	if (f->how == FORGE_full)
		wanted = high;
	else if (f->how == FORGE_plain || dice_below(f->dice, 4) > 0)
		wanted = dice_below(f->dice, 40);
	else
		wanted = dice_once(f->dice, 2) ? high : low;
	wanted = wanted > most ? most : wanted;
	wanted = wanted < low ? low : wanted;
	f->budget -= wanted < f->budget ? wanted : f->budget;
	return wanted;
}

static char *
make_text(struct forger *f, const struct field *field, size_t *size)
{
	static const char digits[] = "0123456789abcdef";
	const char *given = forge_text(f->dice, (size_t)field->high);
	size_t n = strlen(given);
	bool fits = (f->how == FORGE_edge || f->how == FORGE_broken) && n >= (size_t)field->low &&
	            dice_once(f->dice, 2);

	*size = fits ? n : length(f, field);

	char *text = malloc(*size + 1);

	must(text != NULL);
	for (size_t i = 0; i < *size; i++)
		text[i] = fits ? given[i] : digits[(i + n) % 16];
	return text;
}

/* Sometimes adds bytes that no text may contain. */
static void
spoil(struct forger *f, const struct field *field, char **text, size_t *size)
{
	switch (dice_below(f->dice, 3)) {
	case 0:
		*size = (size_t)field->high + 1 < FORGE_SMALL ? (size_t)field->high + 1 : 0;
		*text = realloc(*text, *size + 1);
		must(*text != NULL);
		memset(*text, 'x', *size);
		break;
	case 1:
		if (*size > 0)
			(*text)[dice_below(f->dice, *size)] = '\0';
		break;
	default:
		if (*size > 0)
			(*text)[dice_below(f->dice, *size)] = (char)0xc0;
		break;
	}
}

static void
forge_string(struct forger *f, const struct field *field, bool broken)
{
	size_t size;
	auto_free char *text = make_text(f, field, &size);

	if (broken)
		spoil(f, field, &text, &size);
	put_text(f, text, size);
}

static struct blob
any_value(struct forger *f, const struct field *field)
{
	size_t depth = (size_t)field->high < 100000 ? (size_t)field->high : 100000;
	struct blob nested;

	if (f->how != FORGE_full && (dice_below(f->dice, 6) > 0 || f->budget < depth))
		return blob_text(values[dice_below(f->dice, COUNT(values))]);
	nested = blob_copy("", depth > 0 ? 1 : 0);
	nested.data = realloc(nested.data, depth + 1);
	must(nested.data != NULL);
	memset(nested.data, dice_once(f->dice, 2) ? '[' : '9', depth);
	nested.size = depth;
	f->budget -= f->budget < depth ? f->budget : depth;
	return nested;
}

static void
forge_frame(struct forger *f, const struct field *field, bool broken)
{
	struct packed *out = f->out;
	size_t size;

	if (broken && dice_once(f->dice, 2)) { /* none, another field's, or an unknown name */
		msgpack_pack_uint64(&f->pk, dice_roll(f->dice) % (out->count + 3));
		return;
	}
	if (out->count == WIRE_MAX_BLOBS)
		return;
	msgpack_pack_uint64(&f->pk, out->count);
	if (field->kind == KIND_ANY) {
		out->blobs[out->count++] = any_value(f, field);
		return;
	}
	auto_free char *text = make_text(f, field, &size);
	if (broken)
		spoil(f, field, &text, &size);
	if (field->kind == KIND_BLOB && size > 0)
		text[0] = (char)0xff;
	out->blobs[out->count++] = blob_copy(text, size);
}

/* ---- numbers and words ---- */

static void
forge_uint(struct forger *f, const struct field *field, bool broken)
{
	uint64_t low = (uint64_t)field->low, high = (uint64_t)field->high;

	if (broken)
		msgpack_pack_uint64(&f->pk, high + 1 + dice_roll(f->dice) % 2 * (UINT64_MAX / 2));
	else if (f->how == FORGE_plain)
		msgpack_pack_uint64(&f->pk, low + dice_below(f->dice, 100) % (high - low + 1));
	else
		msgpack_pack_uint64(&f->pk,
		    dice_once(f->dice, 2) ? high : low + dice_roll(f->dice) % (high - low + 1));
}

static void
forge_int(struct forger *f, const struct field *field, bool broken)
{
	if (broken)
		msgpack_pack_int64(&f->pk, dice_once(f->dice, 2) ? INT64_MIN : INT64_MAX);
	else if (f->how == FORGE_plain)
		msgpack_pack_int64(&f->pk, 0);
	else
		msgpack_pack_int64(&f->pk, dice_once(f->dice, 2) ? field->low : field->high);
}

static void
forge_real(struct forger *f, const struct field *field, bool broken)
{
	const double wrong[] = { NAN, -NAN, INFINITY, -INFINITY, -1, 1e300 };
	const double edge[] = { (double)field->low, (double)field->high, -0.0, 5e-324, 0.1 };

	if (broken)
		msgpack_pack_double(&f->pk, wrong[dice_below(f->dice, COUNT(wrong))]);
	else if (f->how == FORGE_plain)
		msgpack_pack_double(&f->pk, (double)field->low + 0.5);
	else
		msgpack_pack_double(&f->pk, edge[dice_below(f->dice, COUNT(edge))]);
}

static void
forge_word(struct forger *f, const struct field *field, bool broken)
{
	int count = 0;
	const char *word;

	while (word_text(field->set, count) != NULL)
		count++;
	word = broken ? forge_text(f->dice, 64)
	              : word_text(field->set, (int)dice_below(f->dice, (size_t)count));
	put_text(f, word, strlen(word));
}

static void
forge_flag(struct forger *f, bool broken)
{
	if (broken)
		msgpack_pack_uint64(&f->pk, 2);
	else if (dice_once(f->dice, 2))
		msgpack_pack_true(&f->pk);
	else
		msgpack_pack_false(&f->pk);
}

/* ---- messages ---- */

static void pack(struct forger *, enum msg_id);

static size_t
items(struct forger *f, const struct field *field, size_t each, bool broken)
{
	size_t low = (size_t)field->low, high = (size_t)field->high, most = f->budget / each, n;

	if (broken)
		return high + 1;
	if (f->how == FORGE_full || (f->how != FORGE_plain && dice_once(f->dice, 8)))
		n = high;
	else
		n = dice_below(f->dice, 4);
	n = n > most ? most : n;
	n = n > high ? high : n;
	return n < low ? low : n;
}

static void
forge_texts(struct forger *f, const struct field *field, bool broken)
{
	size_t n = items(f, field, 64, broken);

	msgpack_pack_array(&f->pk, n);
	for (size_t i = 0; i < n; i++) {
		const char *text = forge_text(f->dice, 4096);

		put_text(f, text, strlen(text));
	}
	f->budget -= n * 64 < f->budget ? n * 64 : f->budget;
}

static void
forge_list(struct forger *f, const struct field *field, bool broken)
{
	size_t n = items(f, field, 256, broken);

	msgpack_pack_array(&f->pk, n);
	for (size_t i = 0; i < n && (f->budget > 0 || !broken); i++) {
		f->budget -= f->budget < 256 ? f->budget : 256;
		pack(f, field->of);
	}
}

static void
forge_field(struct forger *f, const struct field *field)
{
	bool broken = f->how == FORGE_broken && dice_once(f->dice, 6);

	if (broken && dice_once(f->dice, 3)) {
		put_nonsense(f);
		return;
	}
	switch (field->kind) {
	case KIND_TEXT:
		forge_string(f, field, broken);
		break;
	case KIND_PAGE:
	case KIND_BLOB:
	case KIND_ANY:
		forge_frame(f, field, broken);
		break;
	case KIND_UINT:
		forge_uint(f, field, broken);
		break;
	case KIND_INT:
		forge_int(f, field, broken);
		break;
	case KIND_REAL:
		forge_real(f, field, broken);
		break;
	case KIND_FLAG:
		forge_flag(f, broken);
		break;
	case KIND_WORD:
		forge_word(f, field, broken);
		break;
	case KIND_TEXTS:
		forge_texts(f, field, broken);
		break;
	case KIND_ITEM:
		pack(f, field->of);
		break;
	case KIND_LIST:
		forge_list(f, field, broken);
		break;
	}
}

static bool
given(struct forger *f, const struct field *field)
{
	if (f->how == FORGE_broken && dice_once(f->dice, 24))
		return !field->needed;
	return field->needed || f->how == FORGE_full || dice_once(f->dice, 2);
}

static void
pack(struct forger *f, enum msg_id id)
{
	const struct message *m = &messages[id];
	bool here[WIRE_MAX_FIELDS];
	size_t count = 0;

	for (size_t i = 0; i < m->nfields; i++)
		count += here[i] = given(f, &m->fields[i]);
	msgpack_pack_map(&f->pk, count);
	for (size_t i = 0; i < m->nfields; i++) {
		const char *name = m->fields[i].name;

		if (!here[i])
			continue;
		if (f->how == FORGE_broken && dice_once(f->dice, 48))
			name = forge_text(f->dice, 64);
		put_text(f, name, strlen(name));
		forge_field(f, &m->fields[i]);
	}
}

void
forge_message(struct dice *d, enum msg_id id, enum forge how, size_t budget, struct packed *out)
{
	struct forger f = { .dice = d, .how = how, .budget = budget, .out = out };

	*out = (struct packed){ .blobs = calloc(WIRE_MAX_BLOBS, sizeof *out->blobs) };
	must(out->blobs != NULL);
	msgpack_sbuffer_init(&f.body);
	msgpack_packer_init(&f.pk, &f.body, msgpack_sbuffer_write);
	pack(&f, id);
	out->body = blob_copy(f.body.data, f.body.size);
	must(out->body.data != NULL);
	msgpack_sbuffer_destroy(&f.body);
}
