/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_hello.c - reads a TLS ClientHello (RFC 8446, 6066) and the head of an HTTP request (RFC
 * 9112). Trusts no byte.
 */
#include "executor/egress/client_hello.h"

#include <string.h>
#include <strings.h>

enum {
	HANDSHAKE = 22,
	CLIENT_HELLO = 1,
	SERVER_NAME = 0,
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

static enum hello_name
find_server_name(struct rest extensions, char name[DOMAIN_NAME])
{
	while (extensions.size > 0) {
		size_t type = number(&extensions, 2);
		struct rest body = part(&extensions, 2);

		if (type != SERVER_NAME || extensions.bad)
			continue;

		struct rest list = part(&body, 2);
		size_t kind = number(&list, 1);
		struct rest host = part(&list, 2);

		return kind == 0 && !list.bad ? take_name(host.at, host.size, name) : HELLO_NONE;
	}
	return HELLO_NONE;
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

	return hello.bad ? HELLO_NONE : find_server_name(extensions, name);
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

static enum hello_name
take_host(const char *value, const char *end, char name[DOMAIN_NAME])
{
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	while (end > value && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;

	const char *colon = memchr(value, ':', (size_t)(end - value));

	return take_name(value, (size_t)((colon != NULL ? colon : end) - value), name);
}

/* One Host, as RFC 9112 demands, and no target with a name of its own. */
enum hello_name
client_hello_of_http(const char *data, size_t size, char name[DOMAIN_NAME])
{
	const char *end = memmem(data, size, "\r\n\r\n", 4), *line = data, *next;
	enum hello_name found = HELLO_NONE;

	if (end == NULL)
		return size < HELLO_BYTES ? HELLO_MORE : HELLO_NONE;

	const char *target = memchr(data, ' ', (size_t)(end - data));

	if (target == NULL || target[1] != '/')
		return HELLO_NONE;
	for (; line < end; line = next) {
		next = memchr(line, '\n', (size_t)(end + 2 - line));
		if (next == NULL)
			break;
		next++;
		if (next - line < 5 || strncasecmp(line, "host:", 5) != 0)
			continue;
		if (found == HELLO_NAMED)
			return HELLO_NONE;
		found = take_host(line + 5, next - 1, name);
		if (found != HELLO_NAMED)
			return HELLO_NONE;
	}
	return found;
}
