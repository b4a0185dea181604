/* SPDX-License-Identifier: Apache-2.0 */
/* dns.h - messages of DNS, as far as egress needs them (RFC 1035). */
#pragma once

#include "common/base/domain.h"

#include "executor/egress/address.h"

#include <stddef.h>

enum {
	DNS_BYTES = 1232,
	DNS_A = 1,
	DNS_AAAA = 28,
	DNS_OK = 0,
	DNS_FAILED = 2,
	DNS_NO_NAME = 3,
	DNS_REFUSED = 5,
	DNS_HEAD = 12,
};

struct dns_question {
	uint16_t id, type;
	char name[DOMAIN_NAME]; /* lower case */
	size_t size;            /* of the message up to the end of the question */
};

/* -1: not one question for a name of the Internet. */
int dns_read_question(const unsigned char *message, size_t size, struct dns_question *);
/* Makes a reply of the question's message.  address NULL: none.  Returns its size. */
size_t dns_answer(unsigned char message[DNS_BYTES], const struct dns_question *, unsigned code,
    const struct in_addr *address);
/* Makes a question.  Returns its size. */
size_t dns_ask(unsigned char message[DNS_BYTES], uint16_t id, uint16_t type, const char *name);
/* The addresses in a reply to that question, at most n.  -1: it is none. */
int dns_read_answer(const unsigned char *message, size_t size, const struct dns_question *asked,
    union address *addresses, size_t n);
