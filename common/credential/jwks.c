/* SPDX-License-Identifier: Apache-2.0 */
/* jwks.c - reads an issuer's keys and their permitted algorithms; uses only the public numbers of
 * each. */
#include "common/credential/jwks.h"

#include "common/base/auto.h"
#include "common/base/log.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
	RSA_LEAST = 2048 / 8, /* RFC 7518, section 3.3 */
	RSA_MOST = 8192 / 8,  /* verification with a longer key takes too long */
	EXPONENT_MOST = 4,
	POINT_MOST = 66, /* P-521 */
};

static const struct {
	const char *name, *kty, *crv;
} algorithms[ALGORITHM_COUNT] = {
#define ALGORITHM(name, kty, crv) { #name, kty, crv },
#include "common/credential/algorithms.def"
};

enum algorithm
algorithm_parse(const char *name)
{
	unsigned i = 0;

	while (i < ALGORITHM_COUNT && strcmp(algorithms[i].name, name) != 0)
		i++;
	return (enum algorithm)i;
}

/* ---- one key ---- */

/* Bytes of a base64url number; 0: malformed or too long. */
static size_t
number_size(const json_t *jwk, const char *field, size_t most)
{
	const char *text = json_string_value(json_object_get(jwk, field));
	uint8_t bytes[RSA_MOST];
	size_t size = 0;

	if (text == NULL || sodium_base642bin(bytes, most, text, strlen(text), NULL, &size, NULL,
				sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0)
		return 0;
	return size;
}

static bool
is_text(const json_t *jwk, const char *field, const char *wanted)
{
	const char *text = json_string_value(json_object_get(jwk, field));

	return text != NULL && strcmp(text, wanted) == 0;
}

/* May the key verify signatures, as far as it states its use? (RFC 7517, sections 4.2 and 4.3) */
static bool
is_for_checking(const json_t *jwk)
{
	const json_t *use = json_object_get(jwk, "use"), *ops = json_object_get(jwk, "key_ops");
	const json_t *op;
	size_t i;

	if (use != NULL && !is_text(jwk, "use", "sig"))
		return false;
	if (ops == NULL)
		return true;
	json_array_foreach(ops, i,
	    op) if (json_is_string(op) && strcmp(json_string_value(op), "verify") == 0) return true;
	return false;
}

static unsigned
algorithms_of(const json_t *jwk)
{
	const json_t *alg = json_object_get(jwk, "alg");
	unsigned set = 0;

	for (unsigned i = 0; i < ALGORITHM_COUNT; i++)
		if (is_text(jwk, "kty", algorithms[i].kty) &&
		    (algorithms[i].crv == NULL || is_text(jwk, "crv", algorithms[i].crv)) &&
		    (alg == NULL || is_text(jwk, "alg", algorithms[i].name)))
			set |= 1U << i;
	return set;
}

/* The reason why the key is unusable, or NULL. */
static const char *
refusal(const json_t *jwk)
{
	const char *id = json_string_value(json_object_get(jwk, "kid"));

	if (json_object_get(jwk, "kid") != NULL && (id == NULL || strlen(id) >= JWK_ID))
		return "kid is not a string of at most 255 bytes";
	if (!is_for_checking(jwk))
		return "use or key_ops: not for checking signatures";
	if (algorithms_of(jwk) == 0)
		return "kty, crv and alg: no accepted algorithm";
	if (!is_text(jwk, "kty", "RSA"))
		return number_size(jwk, "x", POINT_MOST) > 0 &&
		               number_size(jwk, "y", POINT_MOST) > 0
		           ? NULL
		           : "x or y is missing or too long";
	return number_size(jwk, "n", RSA_MOST) >= RSA_LEAST &&
	               number_size(jwk, "e", EXPONENT_MOST) > 0
	           ? NULL
	           : "n has fewer than 2048 or more than 8192 bits, or e more than 32";
}

static void
take(struct jwk *key, const json_t *jwk)
{
	static const char *const fields[] = { "kty", "crv", "x", "y", "n", "e" };
	const char *id = json_string_value(json_object_get(jwk, "kid"));

	*key = (struct jwk){ .algorithms = algorithms_of(jwk), .json = json_object() };
	snprintf(key->id, sizeof key->id, "%s", id != NULL ? id : "");
	for (size_t i = 0; i < COUNT(fields); i++)
		json_object_set(key->json, fields[i], json_object_get(jwk, fields[i]));
}

/* ---- the set ---- */

static int
add(struct jwks *keys, const json_t *set, struct err *e)
{
	const json_t *jwk;
	size_t i;

	json_array_foreach(set, i, jwk)
	{
		const char *why = refusal(jwk);

		if (why != NULL) {
			log_warn("key of the issuer left out", LOG_N("number", i + 1),
			    LOG_S("why", why));
			continue;
		}

		struct jwk *key = list_add(keys, sizeof *key);

		if (key == NULL)
			return err_sys(e, "keys");
		take(key, jwk);
	}
	return keys->count > 0 ? 0
	                       : err_set(e, ERR_invalid_argument,
				     "keys: none of %zu can verify an accepted signature "
				     "here",
				     json_array_size(set));
}

int
jwks_read(const struct blob *file, struct jwks *keys, struct err *e)
{
	json_error_t why;
	json_t *root = json_loadb(file->data, file->size, JSON_REJECT_DUPLICATES, &why);
	const json_t *set = json_object_get(root, "keys");
	int failed;

	*keys = (struct jwks){ 0 };
	if (root == NULL)
		failed = err_set(e, ERR_invalid_argument, "line %d: %.100s", why.line, why.text);
	else if (!json_is_array(set))
		failed = err_set(e, ERR_invalid_argument, "keys: must be an array (RFC 7517)");
	else if (json_array_size(set) > JWKS_MAX)
		failed = err_set(e, ERR_limit_exceeded, "keys: %zu are over the limit of %d",
		    json_array_size(set), JWKS_MAX);
	else
		failed = add(keys, set, e);
	json_decref(root);
	if (failed < 0)
		jwks_clear(keys);
	return failed;
}

void
jwks_clear(struct jwks *keys)
{
	for (size_t i = 0; i < keys->count; i++)
		json_decref(keys->items[i].json);
	free(keys->items);
	*keys = (struct jwks){ 0 };
}

const struct jwk *
jwks_find(const struct jwks *keys, enum algorithm algorithm, const char *id)
{
	const struct jwk *found = NULL;

	for (size_t i = 0; i < keys->count; i++) {
		const struct jwk *key = &keys->items[i];

		if ((key->algorithms & 1U << algorithm) == 0 ||
		    (id != NULL && strcmp(key->id, id) != 0))
			continue;
		if (found != NULL)
			return NULL;
		found = key;
	}
	return found;
}
