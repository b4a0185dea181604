/* SPDX-License-Identifier: Apache-2.0 */
/* dns.c - reads and writes messages of DNS.  Trusts no byte of a message. */
#include "executor/egress/dns.h"

#include <string.h>

enum {
	CLASS_IN = 1,
	LABEL = 63,
	POINTER = 0xc0,
	IS_REPLY = 0x80,
	TTL = 60,
	RECORD = 10, /* type, class, ttl, size */
};

static uint16_t
get16(const unsigned char *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void
put16(unsigned char *at, unsigned value)
{
	at[0] = (unsigned char)(value >> 8);
	at[1] = (unsigned char)value;
}

/* Reads an uncompressed name.  0: it is none. */
static size_t
read_name(const unsigned char *message, size_t size, char name[DOMAIN_NAME])
{
	size_t at = DNS_HEAD, n = 0;

	while (at < size && message[at] != 0) {
		size_t label = message[at++];

		if (label > LABEL || at + label > size || n + label + 1 >= DOMAIN_NAME ||
		    memchr(message + at, '.', label) != NULL ||
		    memchr(message + at, 0, label) != NULL)
			return 0;
		if (n > 0)
			name[n++] = '.';
		memcpy(name + n, message + at, label);
		n += label;
		at += label;
	}
	name[n] = '\0';
	return at < size ? at + 1 : 0;
}

int
dns_read_question(const unsigned char *message, size_t size, struct dns_question *question)
{
	size_t end = size > DNS_HEAD ? read_name(message, size, question->name) : 0;

	if (end == 0 || end + 4 > size || (message[2] & IS_REPLY) != 0 || get16(message + 4) != 1)
		return -1;
	question->id = get16(message);
	question->type = get16(message + end);
	question->size = end + 4;
	if (get16(message + end + 2) != CLASS_IN || !domain_is_name(question->name))
		return -1;
	return 0;
}

size_t
dns_answer(unsigned char message[DNS_BYTES], const struct dns_question *question, unsigned code,
    const struct in_addr *address)
{
	unsigned char *at = message + question->size;

	message[2] = (unsigned char)(IS_REPLY | (message[2] & 1));
	message[3] = (unsigned char)(0x80 | code);
	memset(message + 6, 0, 6);
	if (address == NULL)
		return question->size;
	put16(message + 6, 1);
	put16(at, POINTER << 8 | DNS_HEAD);
	put16(at + 2, DNS_A);
	put16(at + 4, CLASS_IN);
	put16(at + 6, 0);
	put16(at + 8, TTL);
	put16(at + 10, sizeof *address);
	memcpy(at + 12, address, sizeof *address);
	return question->size + 12 + sizeof *address;
}

size_t
dns_ask(unsigned char message[DNS_BYTES], uint16_t id, uint16_t type, const char *name)
{
	size_t at = DNS_HEAD;

	memset(message, 0, DNS_HEAD);
	put16(message, id);
	message[2] = 1; /* recursion desired */
	put16(message + 4, 1);
	while (*name != '\0') {
		size_t label = strcspn(name, ".");

		message[at++] = (unsigned char)label;
		memcpy(message + at, name, label);
		at += label;
		name += label + (name[label] == '.' ? 1 : 0);
	}
	message[at++] = 0;
	put16(message + at, type);
	put16(message + at + 2, CLASS_IN);
	return at + 4;
}

/* The end of a name, compressed or not.  0: it has none. */
static size_t
skip_name(const unsigned char *message, size_t size, size_t at)
{
	while (at < size && message[at] != 0) {
		if ((message[at] & POINTER) == POINTER)
			return at + 2;
		at += (size_t)message[at] + 1;
	}
	return at < size ? at + 1 : 0;
}

static bool
take_record(const unsigned char *data, uint16_t type, size_t size, union address *address)
{
	memset(address, 0, sizeof *address);
	if (type == DNS_A && size == sizeof address->v4.sin_addr) {
		address->v4.sin_family = AF_INET;
		memcpy(&address->v4.sin_addr, data, size);
		return true;
	}
	if (type == DNS_AAAA && size == sizeof address->v6.sin6_addr) {
		address->v6.sin6_family = AF_INET6;
		memcpy(&address->v6.sin6_addr, data, size);
		return true;
	}
	return false;
}

static unsigned char
lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
}

/* Does the reply repeat the question?  Letters may have another case. */
static bool
repeats(const unsigned char *message, const struct dns_question *asked)
{
	unsigned char question[DNS_BYTES];
	size_t size = dns_ask(question, asked->id, asked->type, asked->name);

	if (size != asked->size)
		return false;
	for (size_t i = DNS_HEAD; i < size; i++)
		if (lower(message[i]) != lower(question[i]))
			return false;
	return true;
}

/* Records of other names in the answer are those of an alias. */
int
dns_read_answer(const unsigned char *message, size_t size, const struct dns_question *asked,
    union address *addresses, size_t n)
{
	size_t at = asked->size, found = 0;

	if (size < at || get16(message) != asked->id || (message[2] & IS_REPLY) == 0 ||
	    get16(message + 4) != 1 || !repeats(message, asked))
		return -1;
	for (unsigned records = get16(message + 6); records > 0 && found < n; records--) {
		at = skip_name(message, size, at);
		if (at == 0 || at + RECORD > size)
			break;

		size_t data = get16(message + at + 8);

		if (at + RECORD + data > size)
			break;
		found +=
		    take_record(message + at + RECORD, get16(message + at), data, &addresses[found])
			? 1
			: 0;
		at += RECORD + data;
	}
	return (int)found;
}
