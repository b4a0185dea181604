/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - addresses and names of hosts, and mail addresses. */
#include "validator/schema/format.h"

#include "validator/schema/bidi.h"

#include "common/base/auto.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <idn2.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_NAME = 253,
	MAX_LABEL = 63,
	MAX_LOCAL = 64,
};

bool
host_ipv4(const char *text, size_t size)
{
	struct in_addr address;

	return strlen(text) == size && inet_pton(AF_INET, text, &address) == 1;
}

bool
host_ipv6(const char *text, size_t size)
{
	struct in6_addr address;

	return strlen(text) == size && inet_pton(AF_INET6, text, &address) == 1;
}

/* RFC 1034, and digits in the first place by RFC 1123. */
static bool
plain_label(const char *label, size_t size)
{
	if (size == 0 || size > MAX_LABEL || label[0] == '-' || label[size - 1] == '-')
		return false;
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)label[i]) && label[i] != '-')
			return false;
	return true;
}

/* An A-label must be the code of a label that is allowed. */
static bool
ascii_label(const char *label, size_t size)
{
	char copy[MAX_LABEL + 1];

	if (!plain_label(label, size))
		return false;
	if (size < 4 || label[2] != '-' || label[3] != '-')
		return true;
	snprintf(copy, sizeof copy, "%.*s", (int)size, label);
	auto_free char *shown = NULL;
	return strncasecmp(copy, "xn--", 4) == 0 &&
	       idn2_to_unicode_8z8z(copy, &shown, IDN2_NO_TR46) == IDN2_OK &&
	       host_idn(shown, strlen(shown));
}

static bool
all_labels(const char *text, size_t size, bool (*fits)(const char *, size_t))
{
	size_t start = 0;

	if (size == 0 || size > MAX_NAME)
		return false;
	for (size_t i = 0; i <= size; i++)
		if (i == size || text[i] == '.') {
			if (!fits(text + start, i - start))
				return false;
			start = i + 1;
		}
	return true;
}

bool
host_plain(const char *text, size_t size)
{
	return all_labels(text, size, plain_label);
}

bool
host_name(const char *text, size_t size)
{
	return all_labels(text, size, ascii_label) &&
	       (strcasestr(text, "xn--") == NULL || bidi_fits(text));
}

/* ---- internationalized names ---- */

/* Decodes a character; the text is UTF-8. */
static uint32_t
next_character(const char **at)
{
	const unsigned char *c = (const unsigned char *)*at;
	int more = *c >= 0xf0 ? 3 : *c >= 0xe0 ? 2 : *c >= 0xc0 ? 1 : 0;
	uint32_t code = more == 0 ? *c : *c & (0x3fu >> more);

	for (int i = 1; i <= more; i++)
		code = code << 6 | (c[i] & 0x3f);
	*at += more + 1;
	return code;
}

static bool
is_kana_or_han(uint32_t c)
{
	return (c >= 0x3041 && c <= 0x3096) || (c >= 0x309d && c <= 0x309f) ||
	       (c >= 0x30a1 && c <= 0x30fa) || (c >= 0x30fc && c <= 0x30ff) || c == 0x3005 ||
	       c == 0x3007 || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x4e00 && c <= 0x9fff) ||
	       (c >= 0x20000 && c <= 0x323af);
}

static bool
is_virama(uint32_t c)
{
	return c == 0x94d || c == 0x9cd || c == 0xa4d || c == 0xacd || c == 0xb4d || c == 0xbcd ||
	       c == 0xc4d || c == 0xccd || c == 0xd4d || c == 0xdca || c == 0xe3a || c == 0xf84;
}

/* The rules of context of RFC 5892, appendix A, which a lookup by libidn2 leaves out. */
static bool
context_fits(const char *label)
{
	bool kana = false, middle = false, arabic = false, extended = false;
	uint32_t before = 0, c;

	for (const char *at = label; *at != '\0'; before = c) {
		c = next_character(&at);
		const char *rest = at;
		uint32_t after = *rest != '\0' ? next_character(&rest) : 0;

		if ((c == 0xb7 && (before != 'l' || after != 'l')) ||
		    (c == 0x375 && (after < 0x370 || after > 0x3ff)) ||
		    ((c == 0x5f3 || c == 0x5f4) && (before < 0x590 || before > 0x5ff)) ||
		    (c == 0x200d && !is_virama(before)) || c == 0x302e || c == 0x302f ||
		    c == 0x640 || c == 0x7fa || (c >= 0x3031 && c <= 0x3035) || c == 0x303b)
			return false;
		kana |= is_kana_or_han(c);
		middle |= c == 0x30fb;
		arabic |= c >= 0x660 && c <= 0x669;
		extended |= c >= 0x6f0 && c <= 0x6f9;
	}
	return (kana || !middle) && !(arabic && extended);
}

/* flags: IDN2_NFC_INPUT normalizes the label first. */
static bool
idn_label(const char *label, size_t size, int flags)
{
	char copy[4 * MAX_LABEL + 1];
	auto_free char *ascii = NULL;

	if (size == 0 || size >= sizeof copy)
		return false;
	snprintf(copy, sizeof copy, "%.*s", (int)size, label);
	if (idn2_lookup_u8((const uint8_t *)copy, (uint8_t **)&ascii, IDN2_NO_TR46 | flags) !=
	    IDN2_OK)
		return false;
	return strlen(ascii) <= MAX_LABEL && context_fits(copy);
}

static bool
idn(const char *text, size_t size, int flags)
{
	const char *start = text, *at = text;
	bool ascii = true;

	if (size == 0 || strlen(text) != size)
		return false;
	for (size_t i = 0; i < size; i++)
		ascii &= (unsigned char)text[i] < 0x80;
	if (ascii)
		return host_name(text, size);
	while (*at != '\0') {
		const char *here = at;
		uint32_t c = next_character(&at);
		bool dot = c == '.' || c == 0x3002 || c == 0xff0e || c == 0xff61;

		if (dot && !idn_label(start, (size_t)(here - start), flags))
			return false;
		start = dot ? at : start;
	}
	return idn_label(start, (size_t)(at - start), flags) && bidi_fits(text);
}

bool
host_idn(const char *text, size_t size)
{
	return idn(text, size, 0);
}

/* ---- mail ---- */

static bool
local_part(const char *text, size_t size, bool international)
{
	bool quoted = size >= 2 && text[0] == '"' && text[size - 1] == '"';

	if (size == 0 || size > MAX_LOCAL)
		return false;
	for (size_t i = quoted; i < size - quoted; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x80 && international)
			continue;
		if (quoted
			? c < ' ' || c >= 0x7f || (c == '"' && text[i - 1] != '\\')
			: !isalnum(c) && (c == '\0' || strchr("!#$%&'*+-/=?^_`{|}~.", c) == NULL))
			return false;
		if (!quoted && c == '.' && (i == 0 || i == size - 1 || text[i + 1] == '.'))
			return false;
	}
	return true;
}

static bool
literal(const char *text, size_t size)
{
	char inner[64];

	if (size < 3 || size >= sizeof inner || text[0] != '[' || text[size - 1] != ']')
		return false;
	snprintf(inner, sizeof inner, "%.*s", (int)size - 2, text + 1);
	if (strncasecmp(inner, "IPv6:", 5) == 0)
		return host_ipv6(inner + 5, strlen(inner + 5));
	return host_ipv4(inner, strlen(inner));
}

/* RFC 6531 has a domain normalized before it is looked up. */
static bool
mail(const char *text, size_t size, bool international)
{
	const char *at = memrchr(text, '@', size);

	if (at == NULL || !local_part(text, (size_t)(at - text), international))
		return false;
	const char *domain = at + 1;
	size_t length = size - (size_t)(domain - text);
	return literal(domain, length) ||
	       (international ? idn(domain, length, IDN2_NFC_INPUT) : host_name(domain, length));
}

bool
host_email(const char *text, size_t size)
{
	return mail(text, size, false);
}

bool
host_idn_email(const char *text, size_t size)
{
	return mail(text, size, true);
}
