/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_hello.c - reads a TLS ClientHello (RFC 8446, 6066) and the head of an HTTP request (RFC
 * 9112). Trusts no byte.
 */
#include "executor/egress/client_hello.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
	HANDSHAKE = 22,
	CLIENT_HELLO = 1,
	SERVER_NAME = 0,
	ENCRYPTED_HELLO = 0xfe0d, /* RFC 9849: the name that counts is not readable */
	RECORD_HEAD = 5,
};

/* What is left of a message; a read beyond its end empties it. */
struct rest {
	const unsigned char *at;
	size_t size;
	bool bad;
};

static size_t
number(struct rest *rest, size_t bytes)
{
	size_t value = 0;

	if (rest->size < bytes) {
		rest->bad = true;
		rest->size = 0;
		return 0;
	}
	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | rest->at[i];
	rest->at += bytes;
	rest->size -= bytes;
	return value;
}

static struct rest
part(struct rest *rest, size_t length_bytes)
{
	size_t size = number(rest, length_bytes);
	struct rest inner = { rest->at, size, rest->size < size };

	if (inner.bad) {
		rest->bad = true;
		size = inner.size = rest->size;
	}
	rest->at += size;
	rest->size -= size;
	return inner;
}

static enum hello_name
take_name(const void *data, size_t size, char name[DOMAIN_NAME])
{
	if (size == 0 || size >= DOMAIN_NAME || memchr(data, 0, size) != NULL)
		return HELLO_NONE;
	memcpy(name, data, size);
	name[size] = '\0';
	return domain_is_name(name) ? HELLO_NAMED : HELLO_NONE;
}

/* One name; a server may take another one of several. */
static enum hello_name
read_server_name(struct rest body, char name[DOMAIN_NAME])
{
	struct rest list = part(&body, 2);
	size_t kind = number(&list, 1);
	struct rest host = part(&list, 2);

	if (kind != 0 || list.bad || body.bad || list.size > 0 || body.size > 0)
		return HELLO_NONE;
	return take_name(host.at, host.size, name);
}

static enum hello_name
find_server_name(struct rest extensions, char name[DOMAIN_NAME])
{
	enum hello_name found = HELLO_NONE;

	for (bool seen = false; extensions.size > 0;) {
		size_t type = number(&extensions, 2);
		struct rest body = part(&extensions, 2);

		if (extensions.bad || type == ENCRYPTED_HELLO || (type == SERVER_NAME && seen))
			return HELLO_NONE;
		if (type != SERVER_NAME)
			continue;
		seen = true;
		found = read_server_name(body, name);
	}
	return found;
}

static enum hello_name
read_client_hello(struct rest hello, char name[DOMAIN_NAME])
{
	number(&hello, 2); /* version */
	for (int i = 0; i < 4; i++)
		number(&hello, 8); /* random */
	part(&hello, 1);           /* session id */
	part(&hello, 2);           /* ciphers */
	part(&hello, 1);           /* compression */

	struct rest extensions = part(&hello, 2);

	return hello.bad || hello.size > 0 ? HELLO_NONE : find_server_name(extensions, name);
}

/* A ClientHello may be longer than a record, so records are joined. */
enum hello_name
client_hello_of_tls(const unsigned char *data, size_t size, char name[DOMAIN_NAME])
{
	unsigned char joined[HELLO_BYTES];
	size_t n = 0, at = 0;

	while (size - at >= RECORD_HEAD) {
		size_t record = (size_t)data[at + 3] << 8 | data[at + 4];
		size_t here = size - at - RECORD_HEAD < record ? size - at - RECORD_HEAD : record;

		if (data[at] != HANDSHAKE || n + here > sizeof joined)
			return HELLO_NONE;
		memcpy(joined + n, data + at + RECORD_HEAD, here);
		n += here;
		at += RECORD_HEAD + here;
		if (n >= 4) {
			struct rest message = { joined, n, false };
			bool hello = number(&message, 1) == CLIENT_HELLO;
			struct rest body = part(&message, 3);

			if (!hello)
				return HELLO_NONE;
			if (!body.bad)
				return read_client_hello(body, name);
		}
		if (here < record)
			break;
	}
	if (size > 0 && data[0] != HANDSHAKE)
		return HELLO_NONE;
	return size < HELLO_BYTES ? HELLO_MORE : HELLO_NONE;
}

/* ---- HTTP ---- */

/* A line of the head, without its end. */
struct line {
	const char *at, *end;
};

/* RFC 9110, 5.6.2 */
static bool
is_token(const char *at, const char *end)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";
	const char *from = at;

	for (; at < end; at++)
		if (!isalnum((unsigned char)*at) && (*at == '\0' || strchr(marks, *at) == NULL))
			return false;
	return at > from;
}

/* Servers disagree about bare CR, bare LF and other control characters. */
static bool
is_clean(struct line line)
{
	for (; line.at < line.end; line.at++)
		if (((unsigned char)*line.at < ' ' && *line.at != '\t') || *line.at == 0x7f)
			return false;
	return true;
}

static bool
next_line(const char **at, const char *end, struct line *line)
{
	const char *stop = memmem(*at, (size_t)(end - *at), "\r\n", 2);

	if (stop == NULL)
		return false;
	*line = (struct line){ *at, stop };
	*at = stop + 2;
	return true;
}

/* METHOD /target HTTP/1.x: no target with a name of its own, and no other protocol. */
static bool
is_request_line(struct line line)
{
	const char *space = memchr(line.at, ' ', (size_t)(line.end - line.at));
	const char *last = memrchr(line.at, ' ', (size_t)(line.end - line.at));

	if (space == NULL || space == last || !is_token(line.at, space) || space[1] != '/' ||
	    memchr(space + 1, ' ', (size_t)(last - space - 1)) != NULL || line.end - last != 9)
		return false;
	return memcmp(last, " HTTP/1.1", 9) == 0 || memcmp(last, " HTTP/1.0", 9) == 0;
}

/* A name, and a port of digits or none: a server may take what else follows a colon for the name.
 */
static enum hello_name
take_host(struct line value, char name[DOMAIN_NAME])
{
	while (value.at < value.end && (*value.at == ' ' || *value.at == '\t'))
		value.at++;
	while (value.end > value.at && (value.end[-1] == ' ' || value.end[-1] == '\t'))
		value.end--;

	const char *colon = memchr(value.at, ':', (size_t)(value.end - value.at));
	const char *stop = colon != NULL ? colon : value.end;

	for (const char *digit = stop + 1; digit < value.end; digit++)
		if (!isdigit((unsigned char)*digit))
			return HELLO_NONE;
	return take_name(value.at, (size_t)(stop - value.at), name);
}

/* How often the fields occur that say whose the request is and where it ends. */
enum counted { HOST, LENGTH, CODING, OTHER };

static enum counted
field_of(const char *at, const char *end)
{
	static const char *const names[] = { "host", "content-length", "transfer-encoding" };
	size_t i = 0, size = (size_t)(end - at);

	while (
	    i < COUNT(names) && (strlen(names[i]) != size || strncasecmp(at, names[i], size) != 0))
		i++;
	return (enum counted)i;
}

/* A field with a name and nothing before its colon.  false: the head is one that servers read
 * differently. */
static bool
read_field(struct line line, unsigned seen[OTHER + 1], char name[DOMAIN_NAME])
{
	const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));

	if (colon == NULL || !is_token(line.at, colon) || !is_clean(line))
		return false;

	enum counted field = field_of(line.at, colon);

	if (seen[field]++ > 0 && field != OTHER)
		return false;
	return field != HOST ||
	       take_host((struct line){ colon + 1, line.end }, name) == HELLO_NAMED;
}

/* One Host and one way to tell the end of the body, as RFC 9112 demands. */
enum hello_name
client_hello_of_http(const char *data, size_t size, char name[DOMAIN_NAME])
{
	const char *end = memmem(data, size, "\r\n\r\n", 4), *at = data;
	unsigned seen[OTHER + 1] = { 0 };
	struct line line;

	if (end == NULL)
		return size < HELLO_BYTES ? HELLO_MORE : HELLO_NONE;
	if (!next_line(&at, end + 2, &line) || !is_clean(line) || !is_request_line(line))
		return HELLO_NONE;

	bool old = line.end[-1] == '0';

	while (next_line(&at, end + 2, &line))
		if (!read_field(line, seen, name))
			return HELLO_NONE;
	if (seen[CODING] > 0 && (old || seen[LENGTH] > 0))
		return HELLO_NONE;
	return seen[HOST] == 1 ? HELLO_NAMED : HELLO_NONE;
}
