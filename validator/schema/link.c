/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - URIs (RFC 3986), IRIs (RFC 3987), templates (RFC 6570) and pointers (RFC 6901). */
#include "validator/schema/format.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Characters of a part: unreserved, those of `more`, %XX, and for IRIs what is not ASCII. */
static bool
all_of(const char *text, size_t size, const char *more, bool international)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '%') {
			if (size - i < 3 || !isxdigit((unsigned char)text[i + 1]) ||
			    !isxdigit((unsigned char)text[i + 2]))
				return false;
			i += 2;
		} else if (!isalnum(c) && (c == '\0' || strchr("-._~", c) == NULL) &&
			   (c == '\0' || strchr(more, c) == NULL) &&
			   !(international && c >= 0x80)) {
			return false;
		}
	}
	return true;
}

#define SUBS "!$&'()*+,;="

static bool
is_literal(const char *text, size_t size)
{
	char inner[64];
	struct in6_addr address;

	if (size < 2 || size >= sizeof inner || text[size - 1] != ']')
		return false;
	snprintf(inner, sizeof inner, "%.*s", (int)size - 2, text + 1);
	if (inner[0] == 'v' || inner[0] == 'V') {
		size_t version = strspn(inner + 1, "0123456789abcdefABCDEF");

		return version > 0 && inner[1 + version] == '.' && inner[2 + version] != '\0' &&
		       all_of(inner + 2 + version, strlen(inner + 2 + version), SUBS ":", false);
	}
	return inet_pton(AF_INET6, inner, &address) == 1;
}

static bool
authority(const char *text, size_t size, bool international)
{
	const char *at = memchr(text, '@', size), *port;

	if (at != NULL) {
		if (!all_of(text, (size_t)(at - text), SUBS ":", international))
			return false;
		size -= (size_t)(at + 1 - text);
		text = at + 1;
	}
	port = size > 0 && text[0] == '[' ? memchr(text, ']', size) : text;
	port = port != NULL ? memchr(port, ':', size - (size_t)(port - text)) : NULL;
	size_t host = port != NULL ? (size_t)(port - text) : size;
	for (size_t i = host + 1; port != NULL && i < size; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return host > 0 && text[0] == '[' ? is_literal(text, host)
	                                  : all_of(text, host, SUBS, international);
}

static bool
reference(const char *text, size_t size, bool absolute, bool international)
{
	const char *c = text;
	size_t part = 0;

	if (strlen(text) != size)
		return false;
	if (isalpha((unsigned char)*c))
		while (
		    isalnum((unsigned char)c[part]) || (c[part] != '\0' && strchr("+-.", c[part])))
			part++;
	bool scheme = part > 0 && c[part] == ':';
	if (absolute && !scheme)
		return false;
	c += scheme ? part + 1 : 0;
	if (strncmp(c, "//", 2) == 0) {
		part = strcspn(c + 2, "/?#");
		if (!authority(c + 2, part, international))
			return false;
		c += 2 + part;
	} else if (!scheme && memchr(c, ':', strcspn(c, "/?#")) != NULL) {
		return false;
	}
	part = strcspn(c, "?#");
	if (!all_of(c, part, SUBS ":@/", international))
		return false;
	c += part;
	part = *c == '?' ? strcspn(c, "#") : 0;
	if (!all_of(c, part, SUBS ":@/?", international))
		return false;
	c += part;
	return *c == '\0' || all_of(c + 1, strlen(c + 1), SUBS ":@/?", international);
}

bool
link_uri(const char *text, size_t size)
{
	return reference(text, size, true, false);
}

bool
link_uri_reference(const char *text, size_t size)
{
	return reference(text, size, false, false);
}

bool
link_iri(const char *text, size_t size)
{
	return reference(text, size, true, true);
}

bool
link_iri_reference(const char *text, size_t size)
{
	return reference(text, size, false, true);
}

/* The size of a name of letters, digits, _, %XX and single inner dots; 0: there is none. */
static size_t
variable(const char *text, size_t size)
{
	size_t i = 0;

	while (i < size) {
		size_t dot = i > 0 && text[i] == '.', one = i + dot;

		if (one + 2 < size && text[one] == '%' && isxdigit((unsigned char)text[one + 1]) &&
		    isxdigit((unsigned char)text[one + 2]))
			i = one + 3;
		else if (one < size && (isalnum((unsigned char)text[one]) || text[one] == '_'))
			i = one + 1;
		else
			break;
	}
	return i;
}

/* The size of a modifier: *, or : and a number from 1 to 9999. */
static size_t
modifier(const char *text, size_t size)
{
	size_t digits = 0;

	if (size > 0 && text[0] == '*')
		return 1;
	if (size < 2 || text[0] != ':' || text[1] == '0')
		return 0;
	while (digits < 4 && digits + 1 < size && isdigit((unsigned char)text[digits + 1]))
		digits++;
	return digits > 0 ? digits + 1 : 0;
}

/* Between braces: an operator, then names with modifiers, separated by commas. Some operators are
 * reserved, but allowed. */
static bool
expression(const char *text, size_t size)
{
	size_t at = size > 0 && text[0] != '\0' && strchr("+#./;?&=,!@|", text[0]) != NULL;

	for (;; at++) {
		size_t name = variable(text + at, size - at);

		at += name;
		at += modifier(text + at, size - at);
		if (name == 0 || at == size)
			return name > 0;
		if (text[at] != ',')
			return false;
	}
}

/* An apostrophe is a literal: erratum 6937. */
static bool
is_template_literal(const char *text, size_t size)
{
	unsigned char c = (unsigned char)*text;

	if (c == '%')
		return size > 2 && isxdigit((unsigned char)text[1]) &&
		       isxdigit((unsigned char)text[2]);
	return c > ' ' && c != 0x7f && strchr("\"<>\\^`|}", c) == NULL;
}

bool
link_uri_template(const char *text, size_t size)
{
	const char *end = text + size, *close;

	for (; text < end; text++) {
		if (*text != '{') {
			if (!is_template_literal(text, (size_t)(end - text)))
				return false;
			continue;
		}
		close = memchr(text, '}', (size_t)(end - text));
		if (close == NULL || !expression(text + 1, (size_t)(close - text) - 1))
			return false;
		text = close;
	}
	return true;
}

bool
link_pointer(const char *text, size_t size)
{
	if (size > 0 && text[0] != '/')
		return false;
	for (size_t i = 0; i < size; i++)
		if (text[i] == '~' && text[i + 1] != '0' && text[i + 1] != '1')
			return false;
	return true;
}

bool
link_relative_pointer(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && isdigit((unsigned char)text[n]))
		n++;
	if (n == 0 || (n > 1 && text[0] == '0'))
		return false;
	return (size - n == 1 && text[n] == '#') || link_pointer(text + n, size - n);
}
