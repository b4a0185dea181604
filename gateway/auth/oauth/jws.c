/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jws.c - splits a token, chooses its key and checks its signature, in that order.
 *
 * Nothing in a token is trusted until jws_open() has returned its claims.  Each part is decoded
 * strictly and bounded before it is read.  JSON with a repeated name is refused, so that no two
 * parsers can read it differently.
 */
#include "gateway/auth/oauth/jws.h"

#include "common/base/auto.h"

#include <jose/jws.h>
#include <sodium.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

static typeof(jose_jws_ver) *verify;

/* The parts as they are in the token, still encoded. */
struct parts {
	struct part {
		const char *text;
		size_t size;
	} header, payload, signature;
};

/* Allowed in a header.  All but alg and kid have no effect here. */
static const char *const harmless[] = { "alg", "kid", "typ", "x5t", "x5t#S256" };

static int
reject(struct err *e, const char *why)
{
	err_set(e, ERR_unauthenticated, "%s", why);
	e->sys = EKEYREJECTED;
	return -1;
}

/* ---- the form ---- */

static int
split(const char *token, size_t size, struct parts *parts, struct err *e)
{
	struct part *const part[] = { &parts->header, &parts->payload, &parts->signature };
	const char *at = token, *end = token + size;

	if (size > JWS_MAX)
		return err_set(e, ERR_invalid_argument,
		    "the token has %zu bytes, over the limit of %d", size, JWS_MAX);
	for (size_t i = 0; i < COUNT(part); i++) {
		const char *dot = i < 2 ? memchr(at, '.', (size_t)(end - at)) : end;

		if (dot == NULL)
			return reject(e, "unknown token");
		*part[i] = (struct part){ at, (size_t)(dot - at) };
		at = dot + 1;
	}
	return 0;
}

/* Decodes base64url without padding and with all unused bits zero (RFC 7515, section 2). */
static int
decode(const struct part *part, void *to, size_t room, size_t *size)
{
	return sodium_base642bin(to, room, part->text, part->size, NULL, size, NULL,
	    sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

/* A new reference, or NULL. */
static json_t *
decode_object(const struct part *part, size_t room)
{
	auto_free char *text = malloc(room);
	size_t size = 0;

	if (text == NULL || decode(part, text, room, &size) != 0)
		return NULL;

	json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);

	sodium_memzero(text, size);
	if (json_is_object(object))
		return object;
	json_decref(object);
	return NULL;
}

/* ---- the header ---- */

static int
check_names(json_t *header, struct err *e)
{
	const char *name;
	json_t *value;

	json_object_foreach(header, name, value)
	{
		size_t i = 0;

		while (i < COUNT(harmless) && strcmp(harmless[i], name) != 0)
			i++;
		if (i == COUNT(harmless))
			return reject(
			    e, "the token's header has parameters other than alg, kid and typ");
	}
	return 0;
}

/* Accepts no typ, JWT, or that of RFC 9068.  Other kinds of tokens are not access tokens. */
static bool
is_access_token(const json_t *typ)
{
	static const char *const types[] = { "JWT", "at+jwt", "application/at+jwt" };

	if (typ == NULL)
		return true;
	for (size_t i = 0; json_is_string(typ) && i < COUNT(types); i++)
		if (strcasecmp(types[i], json_string_value(typ)) == 0)
			return true;
	return false;
}

static const struct jwk *
choose(json_t *header, const struct jwks *keys, struct err *e)
{
	const char *alg = json_string_value(json_object_get(header, "alg"));
	const json_t *kid = json_object_get(header, "kid");
	enum algorithm algorithm = alg != NULL ? algorithm_parse(alg) : ALGORITHM_COUNT;
	const struct jwk *key = NULL;

	if (check_names(header, e) < 0)
		return NULL;
	if (algorithm == ALGORITHM_COUNT)
		reject(e, "the token's alg is not accepted");
	else if (!is_access_token(json_object_get(header, "typ")))
		reject(e, "the token's typ is not at+jwt or JWT");
	else if (kid != NULL && (!json_is_string(kid) || json_string_length(kid) >= JWK_ID))
		reject(e, "the token's kid is not a string of at most 255 bytes");
	else if ((key = jwks_find(keys, algorithm, json_string_value(kid))) == NULL)
		reject(e, kid != NULL ? "the token's kid matches none of the issuer's keys"
				      : "the token has no kid, and not exactly one key matches");
	return key;
}

/* ---- the signature ---- */

static bool
check(const struct parts *parts, const json_t *jwk)
{
	json_t *signature = json_stringn(parts->signature.text, parts->signature.size);
	json_t *jws =
	    json_pack("{s:s%, s:s%, s:O*}", "protected", parts->header.text, parts->header.size,
		"payload", parts->payload.text, parts->payload.size, "signature", signature);
	bool good = jws != NULL && signature != NULL && verify(NULL, jws, NULL, jwk, false);

	/* Without its signature, a token left in memory is useless. */
	if (signature != NULL)
		sodium_memzero(
		    (char *)(uintptr_t)json_string_value(signature), parts->signature.size);
	json_decref(jws);
	json_decref(signature);
	return good;
}

/* ---- the whole token ---- */

static int
check_token(const struct parts *parts, const struct jwks *keys, struct err *e)
{
	uint8_t bytes[JWS_SIGNATURE];
	size_t size = 0;

	if (decode(&parts->signature, bytes, sizeof bytes, &size) != 0 || size == 0)
		return reject(e, "the token's signature is not base64url");

	json_t *header = decode_object(&parts->header, JWS_HEADER);
	const struct jwk *key = NULL;

	if (header == NULL)
		reject(e, "the token's header is not a JSON object with unique names");
	else
		key = choose(header, keys, e);
	json_decref(header);
	if (key == NULL)
		return -1;
	return check(parts, key->json) ? 0 : reject(e, "the token's signature is not valid");
}

json_t *
jws_open(const char *token, size_t size, const struct jwks *keys, struct err *e)
{
	struct parts parts;
	json_t *claims;

	if (split(token, size, &parts, e) < 0 || check_token(&parts, keys, e) < 0)
		return NULL;
	if ((claims = decode_object(&parts.payload, JWS_MAX)) == NULL)
		reject(e, "the token's claims are not a JSON object with unique names");
	return claims;
}

/* ---- the library ---- */

/* RFC 7515, appendix A.3. */
static const char known_token[] =
    "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNv"
    "bS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxf"
    "KTUJqPP3-Kg6NU1Q";
static const char known_keys[] = "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\","
				 "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
				 "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}";

int
jws_load(struct err *e)
{
	const struct blob file = { (void *)(uintptr_t)known_keys, sizeof known_keys - 1 };
	struct jwks keys;

	if (verify != NULL)
		return 0;

	void *library = dlopen("libjose.so.0", RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		return err_set(e, ERR_unavailable, "issuer: %s; install libjose0", dlerror());
	verify = (typeof(verify))dlsym(library, "jose_jws_ver");
	if (verify == NULL)
		return err_set(e, ERR_unavailable, "issuer: libjose.so.0 has no jose_jws_ver");
	if (jwks_read(&file, &keys, e) < 0)
		return -1;

	json_t *claims = jws_open(known_token, sizeof known_token - 1, &keys, e);

	jwks_clear(&keys);
	if (claims == NULL) {
		verify = NULL;
		return err_add(e, "issuer: libjose.so.0 fails RFC 7515, A.3");
	}
	json_decref(claims);
	return 0;
}
