/* SPDX-License-Identifier: Apache-2.0 */
/* issuer.c - signs any token that a test requests, as no real issuer should. */
#include "tests/unit/issuer.h"

#include "common/base/auto.h"
#include "common/base/err.h"

#include <jose/b64.h>
#include <jose/jwk.h>
#include <jose/jws.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

json_t *
issuer_key(const char *alg, const char *kid)
{
	json_t *key = json_pack("{s:s, s:s*}", "alg", alg, "kid", kid);

	must(jose_jwk_gen(NULL, key));
	json_object_del(key, "key_ops");
	return key;
}

json_t *
issuer_public(const json_t *key)
{
	json_t *public = json_deep_copy(key);

	must(jose_jwk_pub(NULL, public));
	return public;
}

char *
issuer_set(const json_t *key, ...)
{
	json_t *keys = json_array(), *set = json_pack("{s:o}", "keys", keys);
	va_list more;

	va_start(more, key);
	for (; key != NULL; key = va_arg(more, const json_t *))
		json_array_append_new(keys, issuer_public(key));
	va_end(more);

	char *text = json_dumps(set, 0);

	json_decref(set);
	return text;
}

char *
issuer_sign(const char *header, const char *payload, const json_t *key)
{
	json_t *protected = jose_b64_enc(header, strlen(header));
	json_t *body = jose_b64_enc(payload, strlen(payload));
	json_t *jws = json_pack("{s:O}", "payload", body);
	json_t *sig = json_pack("{s:O}", "protected", protected);
	char *token;

	must(key == NULL || jose_jws_sig(NULL, jws, sig, key));

	const char *signature = json_string_value(json_object_get(jws, "signature"));

	must(asprintf(&token, "%s.%s.%s", json_string_value(protected), json_string_value(body),
		 signature != NULL ? signature : "") > 0);
	json_decref(protected);
	json_decref(body);
	json_decref(jws);
	json_decref(sig);
	return token;
}
