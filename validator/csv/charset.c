/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charset.c - iconv() for conversion, uchardet for guesses.
 *
 * Trusts nothing: both libraries read an attacker's bytes, in a worker process.
 */
#include "validator/csv/charset.h"

#include "common/base/auto.h"

#include <iconv.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <uchardet/uchardet.h>

enum {
	SAMPLE = 256 << 10, /* bytes that a guess is made from */
};

#define NO_CONVERTER ((iconv_t)-1)

static struct charset {
	const char *name, *converter, *guess;
	iconv_t to_utf8; /* NULL: not opened yet */
} charsets[] = {
#define CHARSET(name, converter, guess) { name, converter, guess, NULL },
#include "validator/csv/charsets.def"
};

static const struct {
	const char *name, *charset;
} aliases[] = {
#define ALIAS(name, charset) { name, charset },
#include "validator/csv/charsets.def"
};

void
charset_open(void)
{
	for (size_t i = 0; i < COUNT(charsets); i++)
		if (charsets[i].to_utf8 == NULL)
			charsets[i].to_utf8 = iconv_open("UTF-8", charsets[i].converter);
}

const char *
charset_name(const struct charset *charset)
{
	return charset->name;
}

static const struct charset *
named(const char *name)
{
	const struct charset *found = NULL;

	for (size_t i = 0; i < COUNT(charsets); i++)
		if (strcasecmp(charsets[i].name, name) == 0)
			found = &charsets[i];
	return found == NULL || found->to_utf8 == NULL || found->to_utf8 == NO_CONVERTER ? NULL
	                                                                                 : found;
}

const struct charset *
charset_find(const char *name)
{
	for (size_t i = 0; i < COUNT(aliases); i++)
		if (strcasecmp(aliases[i].name, name) == 0)
			return named(aliases[i].charset);
	return named(name);
}

/* Bytes that are control characters in an encoding of ISO, and letters in that of Windows. */
static bool
has_controls(const struct blob *bytes)
{
	const unsigned char *data = bytes->data;

	for (size_t i = 0; i < bytes->size; i++)
		if (data[i] >= 0x80 && data[i] < 0xa0)
			return true;
	return false;
}

/* uchardet takes text of Windows without those letters for its sibling of ISO, and the reverse. */
static const struct charset *
sibling(const char *guess, const struct blob *bytes)
{
	static const char *const siblings[][2] = { { "ISO-8859-2", "WINDOWS-1250" },
		{ "ISO-8859-7", "WINDOWS-1253" } };

	for (size_t i = 0; i < COUNT(siblings); i++)
		if (strcmp(guess, siblings[i][0]) == 0 || strcmp(guess, siblings[i][1]) == 0)
			guess = siblings[i][has_controls(bytes)];
	for (size_t i = 0; i < COUNT(charsets); i++)
		if (*guess != '\0' && strcmp(charsets[i].guess, guess) == 0)
			return named(charsets[i].name);
	return NULL;
}

const struct charset *
charset_guess(const struct blob *bytes)
{
	const struct blob sample = { bytes->data, bytes->size < SAMPLE ? bytes->size : SAMPLE };
	const struct charset *found = NULL;
	uchardet_t detector = uchardet_new();

	if (detector == NULL)
		return NULL;
	if (uchardet_handle_data(detector, sample.data, sample.size) == 0) {
		uchardet_data_end(detector);
		found = sibling(uchardet_get_charset(detector), &sample);
	}
	uchardet_delete(detector);
	return found;
}

int
charset_convert(
    const struct charset *charset, const struct blob *from, struct blob *out, struct err *e)
{
	char *in = from->data, *to = out->data;
	size_t left = from->size, room = 3 * from->size;

	(void)iconv(charset->to_utf8, NULL, NULL, NULL, NULL);
	if (iconv(charset->to_utf8, &in, &left, &to, &room) == (size_t)-1 || left > 0)
		return err_set(e, ERR_invalid_argument,
		    "csv_base64: byte %zu is no %s; give encoding, or convert the text to UTF-8",
		    from->size - left, charset->name);
	out->size = (size_t)(to - (char *)out->data);
	if (memchr(out->data, 0, out->size) != NULL)
		return err_set(
		    e, ERR_invalid_argument, "csv_base64: it has a zero character: not a text");
	return 0;
}
