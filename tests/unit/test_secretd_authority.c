/* SPDX-License-Identifier: Apache-2.0 */
/* test_secretd_authority.c - the authority of a run, as a client verifies it: good for the bound
 * names only, and for a day. */
#include "executor/secretd/authority.h"

#include "common/base/auto.h"

#include <gnutls/x509.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static char first[] = "a.test", second[] = "index.b.test";
static char *bound[] = { first, second };
static const struct texts names = { bound, COUNT(bound) };

static gnutls_x509_crt_t
read_authority(const struct authority *authority)
{
	const char *pem = authority_certificate(authority);
	gnutls_datum_t text = { (unsigned char *)(uintptr_t)pem, (unsigned)strlen(pem) };
	gnutls_x509_crt_t certificate;

	assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
	assert_int_equal(gnutls_x509_crt_import(certificate, &text, GNUTLS_X509_FMT_PEM), 0);
	return certificate;
}

/* What a client says of a server with that certificate: 0: good. */
static unsigned
verify(gnutls_x509_crt_t root, gnutls_certificate_credentials_t server, const char *name)
{
	gnutls_x509_crt_t *chain;
	gnutls_x509_trust_list_t trust;
	unsigned count, status = 0;

	assert_int_equal(gnutls_certificate_get_x509_crt(server, 0, &chain, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(gnutls_x509_trust_list_init(&trust, 0), 0);
	assert_int_equal(gnutls_x509_trust_list_add_cas(trust, &root, 1, 0), 1);
	assert_int_equal(gnutls_x509_trust_list_verify_crt2(trust, chain, count,
			     (gnutls_typed_vdata_st[]){
				 { GNUTLS_DT_DNS_HOSTNAME, (unsigned char *)(uintptr_t)name, 0 },
				 { GNUTLS_DT_KEY_PURPOSE_OID,
				     (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_SERVER, 0 } },
			     2, 0, &status, NULL),
	    0);
	gnutls_x509_trust_list_deinit(trust, 0);
	gnutls_x509_crt_deinit(chain[0]);
	gnutls_free(chain);
	return status;
}

static void
test_names(void **state)
{
	static const struct {
		const char *issued, *asked;
		bool good;
	} rows[] = {
		{ "a.test", "a.test", true },
		{ "index.b.test", "index.b.test", true },
		{ "a.test", "b.test", false },
		/* it cannot issue what a client would accept for another name */
		{ "b.test", "b.test", false },
		{ "c.test", "c.test", false },
		{ "xa.test", "xa.test", false },
	};
	struct err e;
	struct authority *authority = authority_new(&names, &e);

	(void)state;
	assert_non_null(authority);
	gnutls_x509_crt_t root = read_authority(authority);

	for (size_t i = 0; i < COUNT(rows); i++) {
		gnutls_certificate_credentials_t server;

		assert_int_equal(authority_issue(authority, rows[i].issued, &server, &e), 0);
		if ((verify(root, server, rows[i].asked) == 0) != rows[i].good)
			fail_msg("%s for %s", rows[i].issued, rows[i].asked);
		gnutls_certificate_free_credentials(server);
	}
	gnutls_x509_crt_deinit(root);
	authority_free(authority);
}

static void
test_form(void **state)
{
	struct err e;
	struct authority *authority = authority_new(&names, &e);
	gnutls_x509_crt_t root = read_authority(authority);
	time_t now = time(NULL);
	unsigned critical, ca, usage;
	int length;

	(void)state;
	assert_int_equal(gnutls_x509_crt_get_basic_constraints(root, &critical, &ca, &length), 1);
	assert_int_equal(ca, 1);
	assert_int_equal(length, 0);
	assert_int_equal(critical, 1);
	assert_int_equal(gnutls_x509_crt_get_key_usage(root, &usage, &critical), 0);
	assert_int_equal(usage, GNUTLS_KEY_KEY_CERT_SIGN);
	assert_in_range(gnutls_x509_crt_get_activation_time(root), now - 3700, now - 60);
	assert_in_range(gnutls_x509_crt_get_expiration_time(root), now + 86000, now + 86400);
	assert_null(strstr(authority_certificate(authority), "PRIVATE"));
	gnutls_x509_crt_deinit(root);
	authority_free(authority);
}

/* Another run's authority says nothing to this one. */
static void
test_two_runs(void **state)
{
	struct err e;
	struct authority *one = authority_new(&names, &e), *two = authority_new(&names, &e);
	gnutls_x509_crt_t root = read_authority(one);
	gnutls_certificate_credentials_t server;

	(void)state;
	assert_string_not_equal(authority_certificate(one), authority_certificate(two));
	assert_int_equal(authority_issue(two, "a.test", &server, &e), 0);
	assert_int_not_equal(verify(root, server, "a.test"), 0);
	gnutls_certificate_free_credentials(server);
	gnutls_x509_crt_deinit(root);
	authority_free(one);
	authority_free(two);
	authority_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_two_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
