/* SPDX-License-Identifier: Apache-2.0 */
/* test_jws.c - valid tokens, and every known way to forge one. */
#include "gateway/auth/oauth/jws.h"

#include "tests/unit/issuer.h"

#include "common/base/auto.h"

#include <jose/b64.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char payload[] = "{\"sub\":\"ann\"}";
static json_t *rsa, *rsa_other, *ec;
static struct jwks keys;

static struct jwks
read_set(const char *text)
{
	const struct blob file = { (void *)(uintptr_t)text, strlen(text) };
	struct jwks set;
	struct err e;

	if (jwks_read(&file, &set, &e) < 0)
		fail_msg("%s", e.text);
	return set;
}

static int
set_up(void **state)
{
	struct err e;

	(void)state;
	rsa = issuer_key("RS256", "one");
	rsa_other = issuer_key("RS256", "one");
	ec = issuer_key("ES256", "two");
	json_object_del(rsa, "alg");

	auto_free char *text = issuer_set(rsa, ec, NULL);

	keys = read_set(text);
	return jws_load(&e);
}

static int
tear_down(void **state)
{
	(void)state;
	jwks_clear(&keys);
	json_decref(rsa);
	json_decref(rsa_other);
	json_decref(ec);
	return 0;
}

/* NULL: it was taken; otherwise why not. */
static const char *
open_token(const char *token, const struct jwks *with)
{
	static struct err e;
	json_t *claims = jws_open(token, strlen(token), with, &e);

	if (claims == NULL) {
		assert_true(e.code == ERR_unauthenticated || e.code == ERR_invalid_argument);
		return e.text;
	}
	assert_string_equal(json_string_value(json_object_get(claims, "sub")), "ann");
	json_decref(claims);
	return NULL;
}

static void
takes_each_algorithm(void **state)
{
	static const char *const algorithms[] = { "ES256", "ES384", "ES512", "PS256", "PS384",
		"PS512", "RS256", "RS384", "RS512" };

	(void)state;
	assert_int_equal(COUNT(algorithms), ALGORITHM_COUNT);
	for (size_t i = 0; i < COUNT(algorithms); i++) {
		json_t *key = issuer_key(algorithms[i], "k");
		auto_free char *text = issuer_set(key, NULL);
		struct jwks set = read_set(text);
		char header[64];

		snprintf(header, sizeof header, "{\"alg\":\"%s\",\"kid\":\"k\"}", algorithms[i]);

		auto_free char *token = issuer_sign(header, payload, key);

		assert_null(open_token(token, &set));
		jwks_clear(&set);
		json_decref(key);
	}
}

/* Each is signed by the issuer's own key: the form alone has to be enough to refuse it. */
static void
refuses_headers(void **state)
{
	static const struct {
		const char *header, *why; /* NULL: taken */
	} cases[] = {
		{ "{\"alg\":\"RS256\",\"kid\":\"one\"}", NULL },
		{ "{\"alg\":\"PS256\",\"kid\":\"one\",\"typ\":\"at+jwt\"}", NULL },
		{ "{\"alg\":\"RS256\"}", NULL }, /* one key fits */
		{ "{\"alg\":\"RS256\",\"kid\":\"two\"}", "none of the issuer's" },
		{ "{\"alg\":\"RS256\",\"kid\":\"\"}", "none of the issuer's" },
		{ "{\"alg\":\"RS256\",\"kid\":\"../../../../etc/passwd\"}",
		    "none of the issuer's" },
		{ "{\"alg\":\"RS256\",\"kid\":\"one' OR 1=1\"}", "none of the issuer's" },
		{ "{\"alg\":\"RS256\",\"kid\":1}", "kid is not a string" },
		{ "{\"alg\":\"RS256\",\"kid\":[\"one\"]}", "kid is not a string" },
		{ "{\"alg\":\"RS256\",\"kid\":\"one\",\"kid\":\"one\"}", "unique names" },
		{ "{\"alg\":\"RS256\",\"alg\":\"RS256\",\"kid\":\"one\"}", "unique names" },
		{ "{\"alg\":\"RS256\",\"kid\":\"one\",\"crit\":[\"exp\"],\"exp\":1}",
		    "parameters other than" },
		{ "{\"alg\":\"RS256\",\"kid\":\"one\",\"crit\":[]}", "parameters other than" },
		{ "{\"alg\":\"RS256\",\"kid\":\"one\",\"b64\":true}", "parameters other than" },
		{ "{\"alg\":\"RS256\",\"kid\":\"one\",\"jku\":\"https://evil/keys\"}",
		    "parameters other than" },
		{ "{\"alg\":\"RS256\",\"kid\":\"one\",\"x5u\":\"https://evil/pem\"}",
		    "parameters other than" },
		{ "{\"alg\":\"RS256\",\"kid\":\"one\",\"x5c\":[\"MIIB\"]}",
		    "parameters other than" },
		{ "{\"alg\":\"RS256\",\"kid\":\"one\",\"zip\":\"DEF\"}", "parameters other than" },
		{ "{\"alg\":\"RS256\",\"kid\":\"one\",\"cty\":\"JWT\"}", "parameters other than" },
		{ "{\"alg\":\"RS256\",\"kid\":\"one\",\"typ\":\"dpop+jwt\"}", "typ is not at+jwt" },
		{ "{\"alg\":\"RS256\",\"kid\":\"one\",\"typ\":7}", "typ is not at+jwt" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		auto_free char *token = issuer_sign(cases[i].header, payload, rsa);
		const char *why = open_token(token, &keys);

		if ((why == NULL) != (cases[i].why == NULL) ||
		    (why != NULL && strstr(why, cases[i].why) == NULL))
			fail_msg("%s: %s", cases[i].header, why != NULL ? why : "taken");
	}
}

static void
refuses_no_algorithm(void **state)
{
	static const char *const headers[] = { "{\"alg\":\"none\"}", "{\"alg\":\"None\"}",
		"{\"alg\":\"NONE\",\"kid\":\"one\"}", "{\"alg\":\"\"}", "{}", "{\"alg\":null}",
		"{\"alg\":[\"RS256\"]}", "{\"alg\":\"rs256\"}", "{\"alg\":\"RS256 \"}",
		"{\"alg\":\"ES256K\"}", "{\"alg\":\"HS256\",\"kid\":\"one\"}" };

	(void)state;
	for (size_t i = 0; i < COUNT(headers); i++) {
		auto_free char *bare = issuer_sign(headers[i], payload, NULL);
		auto_free char *signed_ = NULL;

		assert_true(asprintf(&signed_, "%sAAAA", bare) > 0);
		assert_non_null(open_token(bare, &keys));
		assert_string_equal(open_token(signed_, &keys), "the token's alg is not accepted");
	}
}

/* A public key is no secret: whoever has the set could sign with it as one (RFC 8725, 2.1). */
static void
refuses_the_public_key_as_a_secret(void **state)
{
	json_t *public = issuer_public(rsa);
	const char *modulus = json_string_value(json_object_get(public, "n"));
	auto_free char *jwk = json_dumps(public, JSON_COMPACT);
	json_t *secrets[] = { json_string(modulus), jose_b64_enc(jwk, strlen(jwk)) };

	(void)state;
	for (size_t i = 0; i < COUNT(secrets); i++) {
		json_t *secret =
		    json_pack("{s:s, s:s, s:o}", "kty", "oct", "alg", "HS256", "k", secrets[i]);
		auto_free char *token =
		    issuer_sign("{\"alg\":\"HS256\",\"kid\":\"one\"}", payload, secret);

		assert_string_equal(open_token(token, &keys), "the token's alg is not accepted");
		json_decref(secret);
	}
	json_decref(public);
}

/* Signed well, by a key that the token brings along or only names. */
static void
refuses_other_keys(void **state)
{
	json_t *public = issuer_public(rsa_other);
	auto_free char *jwk = json_dumps(public, JSON_COMPACT), *header = NULL;

	(void)state;
	assert_true(asprintf(&header, "{\"alg\":\"RS256\",\"kid\":\"one\",\"jwk\":%s}", jwk) > 0);

	auto_free char *embedded = issuer_sign(header, payload, rsa_other);
	auto_free char *same_id =
	    issuer_sign("{\"alg\":\"RS256\",\"kid\":\"one\"}", payload, rsa_other);
	auto_free char *other_kind =
	    issuer_sign("{\"alg\":\"ES256\",\"kid\":\"one\"}", payload, ec);

	assert_non_null(strstr(open_token(embedded, &keys), "parameters other than"));
	assert_string_equal(open_token(same_id, &keys), "the token's signature is not valid");
	assert_string_equal(
	    open_token(other_kind, &keys), "the token's kid matches none of the issuer's keys");
	json_decref(public);
}

static void
refuses_what_was_changed(void **state)
{
	auto_free char *token = issuer_sign("{\"alg\":\"ES256\",\"kid\":\"two\"}", payload, ec);
	size_t size = strlen(token);

	(void)state;
	assert_null(open_token(token, &keys));
	for (size_t i = 0; i < size; i++) {
		char was = token[i];

		/* All six bits differ from before, whatever the character was; dots, too. */
		token[i] = was == 'A' ? '_' : 'A';
		assert_non_null(open_token(token, &keys));
		token[i] = was;
	}
	assert_null(open_token(token, &keys));
	for (size_t cut = 0; cut < size; cut++) {
		struct err e;

		assert_null(jws_open(token, cut, &keys, &e));
	}
}

static void
refuses_what_is_no_jws(void **state)
{
	static const char *const tokens[] = { "", ".", "..", "...", "a.b.c", "e30.e30.",
		"e30.e30.e30", "e30=.e30.AAAA", "W10.W10.AAAA",
		"eyJhbGciOiJSUzI1NiJ9.e30.AAAA.AAAA", "eyJhbGciOiJSUzI1NiJ9 .e30.AAAA",
		"eyJhbGciOiJSUzI1NiJ9.e30.AB==", "eyJhbGciOiJSUzI1NiJ9.e30.A",
		"eyJhbGciOiJSUzI1NiJ9.e30.AB" };

	(void)state;
	for (size_t i = 0; i < COUNT(tokens); i++)
		if (open_token(tokens[i], &keys) == NULL)
			fail_msg("taken: %s", tokens[i]);
}

static void
refuses_what_is_huge(void **state)
{
	char big[JWS_MAX + 2], header[JWS_HEADER + 64];

	(void)state;
	memset(big, 'A', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	assert_non_null(strstr(open_token(big, &keys), "over the limit of 8000"));

	int size = snprintf(header, sizeof header, "{\"alg\":\"RS256\",\"kid\":\"");

	memset(header + size, 'x', sizeof header - (size_t)size);
	strcpy(header + sizeof header - 3, "\"}");

	auto_free char *token = issuer_sign(header, payload, rsa);

	assert_non_null(strstr(open_token(token, &keys), "header is not a JSON object"));
	/* Deep enough to end a careless parser. */
	memset(header, '[', sizeof header - 1);
	header[sizeof header - 1] = '\0';

	auto_free char *deep = issuer_sign("{\"alg\":\"RS256\",\"kid\":\"one\"}", header, rsa);

	assert_non_null(strstr(open_token(deep, &keys), "claims are not a JSON object"));
}

static void
refuses_claims_that_say_things_twice(void **state)
{
	static const char *const payloads[] = { "{\"sub\":\"ann\",\"sub\":\"bob\"}",
		"{\"sub\":\"ann\"}{}", "[]", "\"ann\"", "{\"sub\":\"a\\u0000b\"}",
		"{\"sub\":\"\xff\"}" };

	(void)state;
	for (size_t i = 0; i < COUNT(payloads); i++) {
		auto_free char *token =
		    issuer_sign("{\"alg\":\"RS256\",\"kid\":\"one\"}", payloads[i], rsa);

		assert_non_null(strstr(open_token(token, &keys), "claims are not a JSON object"));
	}
}

/* ---- sets of keys ---- */

static void
leaves_out_bad_keys(void **state)
{
	static const char *const bad[] = { "{\"kty\":\"oct\",\"k\":\"c2VjcmV0\",\"alg\":\"HS256\"}",
		"{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}",
		"{\"kty\":\"RSA\",\"e\":\"AQAB\"}",
		"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AQAB\"}",
		"{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"x\":\"AQAB\",\"y\":\"AQAB\"}",
		"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AQAB\",\"y\":\"AQAB\",\"use\":\"enc\"}",
		"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AQAB\",\"y\":\"AQAB\",\"key_ops\":[]}",
		"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AQAB\",\"y\":\"AQAB\",\"kid\":7}",
		("{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AQAB\",\"y\":\"AQAB\",\"alg\":"
		 "\"RS256\"}"),
		"{}", "7", "null" };

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		char text[256];
		struct jwks set;
		struct err e;
		int size = snprintf(text, sizeof text, "{\"keys\":[%s]}", bad[i]);

		if (jwks_read(&(struct blob){ text, (size_t)size }, &set, &e) == 0)
			fail_msg("taken: %s", bad[i]);
		assert_non_null(strstr(e.text, "none of 1"));
	}
}

static void
refuses_what_is_no_set(void **state)
{
	static const char *const texts[] = { "", "[]", "{}", "{\"keys\":{}}", "{\"keys\":[]}",
		"{\"keys\":[],\"keys\":[]}", "{\"keys\":[]" };

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct jwks set;
		struct err e;

		assert_int_equal(
		    jwks_read(
			&(struct blob){ (void *)(uintptr_t)texts[i], strlen(texts[i]) }, &set, &e),
		    -1);
		assert_int_equal(set.count, 0);
	}
}

static void
keeps_no_private_part(void **state)
{
	auto_free char *key = json_dumps(rsa, 0), *text = NULL;

	(void)state;
	assert_true(asprintf(&text, "{\"keys\":[%s]}", key) > 0);

	struct jwks set = read_set(text);

	assert_non_null(json_object_get(rsa, "d"));
	assert_null(json_object_get(set.items[0].json, "d"));
	assert_null(json_object_get(set.items[0].json, "p"));
	jwks_clear(&set);
}

/* Without an id a token names its key only where there is no choice. */
static void
guesses_no_key(void **state)
{
	json_t *first = issuer_key("RS256", "a"), *second = issuer_key("RS256", "b");
	auto_free char *text = issuer_set(first, second, NULL);
	struct jwks set = read_set(text);
	auto_free char *token = issuer_sign("{\"alg\":\"RS256\"}", payload, first);

	(void)state;
	assert_non_null(strstr(open_token(token, &set), "not exactly one key matches"));
	jwks_clear(&set);
	json_decref(first);
	json_decref(second);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_each_algorithm),
		cmocka_unit_test(refuses_headers),
		cmocka_unit_test(refuses_no_algorithm),
		cmocka_unit_test(refuses_the_public_key_as_a_secret),
		cmocka_unit_test(refuses_other_keys),
		cmocka_unit_test(refuses_what_was_changed),
		cmocka_unit_test(refuses_what_is_no_jws),
		cmocka_unit_test(refuses_what_is_huge),
		cmocka_unit_test(refuses_claims_that_say_things_twice),
		cmocka_unit_test(leaves_out_bad_keys),
		cmocka_unit_test(refuses_what_is_no_set),
		cmocka_unit_test(keeps_no_private_part),
		cmocka_unit_test(guesses_no_key),
	};

	return cmocka_run_group_tests_name("jws", tests, set_up, tear_down);
}
