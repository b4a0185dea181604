/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form.c - encodes a secret as programs commonly do.
 *
 * A form in base64 has only the characters that the secret alone determines: at each of the three
 * alignments, without those that it shares with its neighbours.
 */
#include "executor/redact/form.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
	GROWTH = 6,     /* bytes of an escaped byte, at most */
	MIN_LINE = 16,  /* a shorter line of a secret is not searched for alone */
	MIN_PIECE = 16, /* of wrapped base64 */
	DUMP_BYTES = 4, /* of a secret, that a dump shows beside each other */
	DUMP_TEXT = 64,
};

#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/* ---- escaping ---- */

struct escape {
	const char *keep;   /* characters that stay; NULL: all but those of `change` */
	const char *change; /* pairs: a character, and the number of its text in `texts` */
	const char *const *texts;
	const char *format; /* of any other byte; NULL: it stays */
	bool wide;          /* format is for a UTF-16 unit, and bytes over 127 are escaped too */
	bool small;         /* only for small secrets */
};

static const char *const html_long[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#x27;" };
static const char *const html_decimal[] = { "&amp;", "&lt;", "&gt;", "&#34;", "&#39;" };
static const char *const html_apos[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&apos;" };
static const char *const json[] = { "\\\"", "\\\\", "\\n", "\\t", "\\r", "\\/", "\\b", "\\f" };
static const char *const json_twice[] = { "\\\\\\\"", "\\\\\\\\", "\\\\n", "\\\\t", "\\\\r", "/",
	"\\\\b", "\\\\f" };
static const char *const python[] = { "\\'", "\\\\", "\\n", "\\t", "\\r" };
static const char *const shell[] = { "'\\''" };
static const char *const shell_other[] = { "'\"'\"'" };
static const char *const plus[] = { "+" };

static const struct escape escapes[] = {
	/* URL: quote(), encodeURIComponent(), encodeURI(), forms; both cases */
	{ .keep = PLAIN "-_.~", .format = "%%%02X" },
	{ .keep = PLAIN "-_.~", .format = "%%%02x" },
	{ .keep = PLAIN "-_.~/", .format = "%%%02X" },
	{ .keep = PLAIN "-_.!~*'()", .format = "%%%02X" },
	{ .keep = PLAIN "-_.!~*'();/?:@&=+$,#", .format = "%%%02X" },
	{ .keep = PLAIN "-_.~", .change = " 0", .texts = plus, .format = "%%%02X" },
	{ .keep = "", .format = "%%%02X", .small = true },
	{ .keep = "", .format = "%%%02x", .small = true },
	/* JSON, and strings of most languages */
	{ .change = "\"0\\1\n2\t3\r4\b6\f7", .texts = json },
	{ .change = "\"0\\1\n2\t3\r4/5\b6\f7", .texts = json },
	{ .change = "\"0\\1\n2\t3\r4\b6\f7", .texts = json, .format = "\\u%04x", .wide = true },
	{ .change = "\"0\\1\n2\t3\r4\b6\f7", .texts = json, .format = "\\u%04X", .wide = true },
	{ .keep = "", .format = "\\u%04x", .wide = true, .small = true },
	{ .keep = "", .format = "\\u%04X", .wide = true, .small = true },
	{ .change = "\"0\\1\n2\t3\r4/5\b6\f7", .texts = json_twice },
	{ .change = "'0\\1\n2\t3\r4", .texts = python },
	{ .keep = PLAIN " !\"#$%&()*+,-./:;<=>?@[]^_`{|}~",
	    .change = "'0\\1\n2\t3\r4",
	    .texts = python,
	    .format = "\\x%02x" },
	{ .change = "\\1\n2\t3\r4", .texts = python },
	{ .keep = "", .format = "\\x%02x", .small = true },
	/* HTML and XML */
	{ .change = "&0<1>2", .texts = html_long },
	{ .change = "&0<1>2\"3", .texts = html_long },
	{ .change = "&0<1>2\"3'4", .texts = html_long },
	{ .change = "&0<1>2\"3'4", .texts = html_decimal },
	{ .change = "&0<1>2\"3'4", .texts = html_apos },
	{ .keep = "", .format = "&#%u;", .small = true },
	/* a shell's single quotes */
	{ .change = "'0", .texts = shell },
	{ .change = "'0", .texts = shell_other },
};

static int
add_kind(struct forms *to, enum form_kind kind, const void *data, size_t size, struct err *e)
{
	struct form *form;

	if (size < FORM_MIN)
		return 0;
	form = list_add(to, sizeof *form);
	if (form == NULL || (form->text = blob_copy(data, size)).data == NULL)
		return err_sys(e, "forms of a secret");
	form->kind = kind;
	to->bytes += size;
	return 0;
}

static int
add(struct forms *to, const void *data, size_t size, struct err *e)
{
	return add_kind(to, FORM_TEXT, data, size, e);
}

/* The filter needs four bytes beside each other.  So a line may end among the first ones of a coded
 * form, too. */
static int
add_coded(struct forms *to, const char *text, size_t size, struct err *e)
{
	for (size_t at = 0; at < 4 && at < size; at++)
		if (add_kind(to, FORM_CODED, text + at, size - at, e) < 0)
			return -1;
	return 0;
}

/* The character at `at`; *unit has its UTF-16 units, and their number is returned. */
static size_t
units_of(const uint8_t *at, size_t left, uint16_t unit[2], size_t *used)
{
	static const uint8_t first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	size_t size = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	uint32_t c = at[0] & first[size];

	must(size <= left);
	for (size_t i = 1; i < size; i++)
		c = c << 6 | (at[i] & 0x3f);
	*used = size;
	unit[0] = (uint16_t)c;
	if (c < 0x10000)
		return 1;
	unit[0] = (uint16_t)(0xd800 + ((c - 0x10000) >> 10));
	unit[1] = (uint16_t)(0xdc00 + (c & 0x3ff));
	return 2;
}

static const char *
change_of(const struct escape *how, uint8_t c)
{
	for (const char *at = how->change; at != NULL && *at != '\0'; at += 2)
		if ((uint8_t)*at == c)
			return how->texts[at[1] - '0'];
	return NULL;
}

/* true: the byte is written as it is. */
static bool
stays(const struct escape *how, uint8_t c)
{
	if (how->format == NULL || (how->wide && how->keep == NULL && c >= 0x20 && c < 0x7f))
		return true;
	return how->keep != NULL && c != 0 && strchr(how->keep, c) != NULL;
}

/* Formats of the table take one unsigned number. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static size_t
escape_one(const struct escape *how, const uint8_t *at, size_t left, char *to, size_t *used)
{
	const char *text = change_of(how, at[0]);
	uint16_t unit[2] = { at[0] };
	size_t n = 1, size = 0;

	*used = 1;
	if (text != NULL)
		return (size_t)(stpcpy(to, text) - to);
	if (stays(how, at[0])) {
		*to = (char)at[0];
		return 1;
	}
	if (how->wide)
		n = units_of(at, left, unit, used);
	for (size_t i = 0; i < n; i++)
		size += (size_t)snprintf(to + size, GROWTH + 1, how->format, (unsigned)unit[i]);
	return size;
}
#pragma GCC diagnostic pop

static int
add_escaped(
    struct forms *to, const struct escape *how, const uint8_t *data, size_t size, struct err *e)
{
	char *text = malloc(size * GROWTH * 2 + 16);
	size_t n = 0;
	int status;

	if (text == NULL)
		return err_sys(e, "forms of a secret");
	for (size_t i = 0, used; i < size; i += used)
		n += escape_one(how, data + i, size - i, text + n, &used);
	status = add(to, text, n, e);
	sodium_memzero(text, n);
	free(text);
	return status;
}

/* ---- other codings ---- */

/* Lines of wrapped base64, as base64(1), PEM and MIME have them. */
static int
add_wrapped(struct forms *to, const char *text, size_t size, struct err *e)
{
	static const size_t widths[] = { 64, 76 };

	for (size_t w = 0; w < COUNT(widths); w++)
		for (size_t at = 0; size > widths[w] && at < size; at += widths[w]) {
			size_t n = size - at < widths[w] ? size - at : widths[w];

			if (n >= MIN_PIECE && add(to, text + at, n, e) < 0)
				return -1;
		}
	return 0;
}

static int
add_base64(struct forms *to, const uint8_t *data, size_t size, int variant, struct err *e)
{
	size_t room = sodium_base64_ENCODED_LEN(size + 2, variant);
	auto_free uint8_t *shifted = calloc(1, size + 2);
	auto_free char *text = malloc(room);
	int status = 0;

	if (shifted == NULL || text == NULL)
		return err_sys(e, "forms of a secret");
	for (size_t ahead = 0; ahead < 3 && status == 0; ahead++) {
		size_t from = (8 * ahead + 5) / 6, until = 8 * (ahead + size) / 6;

		memcpy(shifted + ahead, data, size);
		sodium_bin2base64(text, room, shifted, ahead + size, variant);
		status = add_coded(to, text + from, until - from, e);
		if (status == 0 && ahead == 0)
			status = add_wrapped(to, text, until, e);
		sodium_memzero(shifted, size + 2);
		sodium_memzero(text, room);
	}
	return status;
}

static int
add_hex(struct forms *to, const uint8_t *data, size_t size, struct err *e)
{
	char *text = malloc(2 * size + 1);
	int status;

	if (text == NULL)
		return err_sys(e, "forms of a secret");
	sodium_bin2hex(text, 2 * size + 1, data, size);
	status = add_coded(to, text, 2 * size, e);
	for (size_t i = 0; i < 2 * size; i++)
		if (text[i] >= 'a')
			text[i] = (char)(text[i] - 'a' + 'A');
	if (status == 0)
		status = add_coded(to, text, 2 * size, e);
	sodium_memzero(text, 2 * size);
	free(text);
	return status;
}

/* RFC 4648, 6; at each of five alignments, without the characters shared with the neighbours. */
static int
add_base32(struct forms *to, const uint8_t *data, size_t size, const char *alphabet, struct err *e)
{
	char *text = malloc(size * 8 / 5 + 2);
	int status = 0;

	if (text == NULL)
		return err_sys(e, "forms of a secret");
	for (size_t ahead = 0; ahead < 5 && status == 0; ahead++) {
		size_t n = 0,
		       bits = (5 - 8 * ahead % 5) % 5; /* of the first byte, for its neighbour */

		for (; bits + 5 <= 8 * size; bits += 5) {
			size_t at = bits / 8;
			unsigned two =
			    (unsigned)data[at] << 8 | (at + 1 < size ? data[at + 1] : 0u);

			text[n++] = alphabet[two >> (11 - bits % 8) & 31];
		}
		status = add_coded(to, text, n, e);
		sodium_memzero(text, n);
	}
	free(text);
	return status;
}

/* ---- dumps ---- */

/* Bytes as od, xxd, hexdump, bytes.hex(), arrays and Node's Buffer print them. */
static const struct dump {
	const char *format; /* of a unit */
	unsigned bytes;     /* of a unit; two are a word, its first byte low if `little` */
	bool little;
	const char *between;
	enum form_kind kind;
} dumps[] = {
	{ "%02x", 1, false, " ", FORM_LINE },
	{ "%02X", 1, false, " ", FORM_LINE },
	{ "%02x", 1, false, ":", FORM_CODED },
	{ "%02X", 1, false, ":", FORM_CODED },
	{ "%02x", 1, false, "-", FORM_CODED },
	{ "%02X", 1, false, "-", FORM_CODED },
	{ "%04x", 2, false, " ", FORM_LINE },
	{ "%04X", 2, false, " ", FORM_LINE },
	{ "%04x", 2, true, " ", FORM_LINE },
	{ "%06o", 2, true, " ", FORM_LINE },
	{ "%03o", 1, false, " ", FORM_LINE },
	{ "%c", 1, false, "   ", FORM_TEXT },
	{ "%u", 1, false, ", ", FORM_TEXT },
	{ "%u", 1, false, ",", FORM_TEXT },
	{ "%u", 1, false, " ", FORM_TEXT },
};

/* Formats of the table take one unsigned number. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static size_t
dump_text(const struct dump *how, const uint8_t *data, char text[DUMP_TEXT])
{
	size_t n = 0;

	for (size_t i = 0; i < DUMP_BYTES; i += how->bytes) {
		unsigned unit = data[i];

		if (how->bytes == 2)
			unit = how->little ? data[i + 1] * 256u + unit : unit * 256u + data[i + 1];
		n += (size_t)snprintf(text + n, DUMP_TEXT - n, "%s", i > 0 ? how->between : "");
		n += (size_t)snprintf(text + n, DUMP_TEXT - n, how->format, unit);
	}
	return n;
}
#pragma GCC diagnostic pop

/* A dump breaks lines anywhere, so each few bytes of the secret are a form. */
static int
add_dumps(struct forms *to, const uint8_t *data, size_t size, struct err *e)
{
	char text[DUMP_TEXT];
	int status = 0;

	for (size_t d = 0; d < COUNT(dumps) && size <= FORM_DUMPED; d++)
		for (size_t at = 0; at + DUMP_BYTES <= size && status == 0; at++)
			status = add_kind(
			    to, dumps[d].kind, text, dump_text(&dumps[d], data + at, text), e);
	sodium_memzero(text, sizeof text);
	return status;
}

/* Names of hosts have no case, and some programs print all of a value in one. */
static int
add_cases(struct forms *to, const uint8_t *data, size_t size, struct err *e)
{
	uint8_t *text = malloc(size);
	int status = 0;

	if (text == NULL)
		return err_sys(e, "forms of a secret");
	for (int upper = 0; upper < 2 && status == 0; upper++) {
		for (size_t i = 0; i < size; i++) {
			bool other = upper ? data[i] >= 'a' && data[i] <= 'z'
			                   : data[i] >= 'A' && data[i] <= 'Z';

			text[i] = other ? data[i] ^ 0x20 : data[i];
		}
		status = add(to, text, size, e);
	}
	sodium_memzero(text, size);
	free(text);
	return status;
}

static int
add_reversed(struct forms *to, const uint8_t *data, size_t size, struct err *e)
{
	uint8_t *text = malloc(size);
	int status;

	if (text == NULL)
		return err_sys(e, "forms of a secret");
	for (size_t i = 0; i < size; i++)
		text[i] = data[size - 1 - i];
	status = add(to, text, size, e);
	sodium_memzero(text, size);
	free(text);
	return status;
}

static int
add_utf16(struct forms *to, const uint8_t *data, size_t size, bool big, struct err *e)
{
	uint8_t *text = malloc(4 * size);
	size_t n = 0;
	int status;

	if (text == NULL)
		return err_sys(e, "forms of a secret");
	for (size_t i = 0, used; i < size; i += used) {
		uint16_t unit[2];
		size_t units = units_of(data + i, size - i, unit, &used);

		for (size_t u = 0; u < units; u++) {
			text[n++] = (uint8_t)(big ? unit[u] >> 8 : unit[u]);
			text[n++] = (uint8_t)(big ? unit[u] : unit[u] >> 8);
		}
	}
	/* The zero byte at the outer end is shared with what surrounds it. */
	status = big ? add(to, text + 1, n - 1, e) : add(to, text, n - 1, e);
	sodium_memzero(text, n);
	free(text);
	return status;
}

static int
add_codings(struct forms *to, const uint8_t *data, size_t size, struct err *e)
{
	bool text = utf8_valid(data, size);

	if (add_base64(to, data, size, sodium_base64_VARIANT_ORIGINAL, e) < 0 ||
	    add_base64(to, data, size, sodium_base64_VARIANT_URLSAFE, e) < 0 ||
	    add_hex(to, data, size, e) < 0 ||
	    add_base32(to, data, size, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", e) < 0 ||
	    add_base32(to, data, size, "abcdefghijklmnopqrstuvwxyz234567", e) < 0 ||
	    add_dumps(to, data, size, e) < 0 || add_cases(to, data, size, e) < 0)
		return -1;
	if (text &&
	    (add_utf16(to, data, size, false, e) < 0 || add_utf16(to, data, size, true, e) < 0))
		return -1;
	for (size_t i = 0; i < COUNT(escapes); i++)
		if ((text || !escapes[i].wide) && (size <= FORM_SMALL || !escapes[i].small) &&
		    add_escaped(to, &escapes[i], data, size, e) < 0)
			return -1;
	return 0;
}

/* The lines of a long secret, which programs print one by one.  The frame of a PEM file is no
 * secret. */
static int
add_lines(struct forms *to, const uint8_t *data, size_t size, struct err *e)
{
	size_t n;

	for (size_t at = 0; at < size; at += n + 1) {
		const uint8_t *end = memchr(data + at, '\n', size - at);

		n = end != NULL ? (size_t)(end - data) - at : size - at;

		size_t most = n > 0 && data[at + n - 1] == '\r' ? n - 1 : n;

		if (most >= MIN_LINE && most < size && memcmp(data + at, "-----", 5) != 0 &&
		    (add(to, data + at, most, e) < 0 || add_reversed(to, data + at, most, e) < 0))
			return -1;
	}
	return 0;
}

int
form_add(struct forms *to, const void *secret, size_t size, struct err *e)
{
	const uint8_t *data = secret;

	/* A program that reads the secret as a line prints it without its end. */
	while (size > FORM_MIN && (data[size - 1] == '\n' || data[size - 1] == '\r'))
		size--;
	if (size < FORM_MIN)
		return err_set(e, ERR_invalid_argument,
		    "a secret has less than %d bytes and cannot be redacted", FORM_MIN);
	if (add(to, data, size, e) < 0 || add_reversed(to, data, size, e) < 0 ||
	    add_codings(to, data, size, e) < 0)
		return -1;
	return add_lines(to, data, size, e);
}

void
form_clear(struct forms *forms)
{
	for (size_t i = 0; i < forms->count; i++) {
		struct blob *text = &forms->items[i].text;

		if (text->data != NULL)
			sodium_memzero(text->data, text->size);
		blob_clear(text);
	}
	free(forms->items);
	*forms = (struct forms){ 0 };
}
