/* SPDX-License-Identifier: Apache-2.0 */
/* test_egress_dns.c - questions of programs and replies of servers, each with every byte changed.
 */
#include "executor/egress/dns.h"

#include "common/base/auto.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void
test_question(void **state)
{
	unsigned char message[DNS_BYTES];
	struct dns_question question;
	size_t size = dns_ask(message, 0x1234, DNS_A, "a.example.test");

	(void)state;
	assert_int_equal(dns_read_question(message, size, &question), 0);
	assert_string_equal(question.name, "a.example.test");
	assert_int_equal(question.id, 0x1234);
	assert_int_equal(question.type, DNS_A);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(dns_read_question(message, i, &question), -1);
}

/* The reply that egress gives is one that its own resolver accepts. */
static void
test_answer(void **state)
{
	unsigned char message[DNS_BYTES];
	struct dns_question asked;
	union address found[4];
	struct in_addr address;
	size_t size = dns_ask(message, 7, DNS_A, "a.test");

	(void)state;
	assert_int_equal(inet_pton(AF_INET, "192.0.2.7", &address), 1);
	assert_int_equal(dns_read_question(message, size, &asked), 0);
	size = dns_answer(message, &asked, DNS_OK, &address);
	assert_int_equal(dns_read_answer(message, size, &asked, found, COUNT(found)), 1);
	assert_int_equal(found[0].v4.sin_addr.s_addr, address.s_addr);
	asked.id++;
	assert_int_equal(dns_read_answer(message, size, &asked, found, COUNT(found)), -1);
	asked.id--;
	asked.type = DNS_AAAA;
	assert_int_equal(dns_read_answer(message, size, &asked, found, COUNT(found)), -1);
}

/* No change of a byte makes a reader leave its message; sanitizers watch. */
static void
test_changes(void **state)
{
	unsigned char message[DNS_BYTES], changed[DNS_BYTES];
	struct dns_question asked, question;
	union address found[4];
	struct in_addr address = { htonl(0x01020304) };
	size_t size = dns_ask(message, 7, DNS_A, "a.example.test");

	(void)state;
	assert_int_equal(dns_read_question(message, size, &asked), 0);
	size = dns_answer(message, &asked, DNS_OK, &address);
	for (size_t at = 0; at < size; at++)
		for (unsigned value = 0; value < 256; value++) {
			memcpy(changed, message, size);
			changed[at] = (unsigned char)value;
			if (dns_read_question(changed, size, &question) == 0)
				assert_true(
				    strlen(question.name) < DOMAIN_NAME && question.size <= size);
			assert_true(dns_read_answer(changed, size, &asked, found, COUNT(found)) <=
				    (int)COUNT(found));
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_question),
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
