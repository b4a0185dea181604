/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_dns.c - packets of programs, and replies of a server to a question of egress.
 *
 * A question that is read can be answered, and the answer has that question.
 */
#include "common/base/auto.h"
#include "executor/egress/dns.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
answer(const uint8_t *data, size_t size, const struct dns_question *question)
{
	unsigned char message[DNS_BYTES];
	struct dns_question again;
	struct in_addr address = { 0x01020304 };

	must(strlen(question->name) < DOMAIN_NAME && question->size <= size);
	memcpy(message, data, size);
	size = dns_answer(message, question, DNS_OK, question->type == DNS_A ? &address : NULL);
	must(size <= DNS_BYTES && size >= question->size);
	message[2] &= 0x7f; /* as a question again */
	if (dns_read_question(message, question->size, &again) == 0)
		must(strcmp(again.name, question->name) == 0 && again.type == question->type);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char asked[DNS_BYTES];
	struct dns_question question;
	union address found[4];

	if (size > DNS_BYTES - 16)
		return 0;
	if (dns_read_question(data, size, &question) == 0)
		answer(data, size, &question);
	size_t length =
	    dns_ask(asked, size >= 2 ? (uint16_t)(data[0] << 8 | data[1]) : 0, DNS_A, "a.test");

	must(dns_read_question(asked, length, &question) == 0);
	must(dns_read_answer(data, size, &question, found, COUNT(found)) <= (int)COUNT(found));
	return 0;
}
