/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c - the statement about an artifact and the check of its signature; trusts neither. */
#include "common/crypto/seal.h"

#include "common/base/auto.h"
#include "common/base/hash.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

static bool
is_line(const char *text)
{
	return text != NULL && text[0] != 0 && strpbrk(text, "\n\r") == NULL;
}

char *
seal_statement(const struct artifact *a, struct err *e)
{
	const struct {
		const char *name, *value;
	} needed[] = {
		{ "execution_id", a->execution_id },
		{ "filename", a->filename },
		{ "sha256", a->sha256 },
		{ "mime_type", a->mime_type },
		{ "signed_at", a->signed_at },
	};
	char *text;

	for (size_t i = 0; i < COUNT(needed); i++)
		if (!is_line(needed[i].value)) {
			err_set(e, ERR_invalid_argument, "%s: missing, or more than a line",
			    needed[i].name);
			return NULL;
		}
	if (asprintf(&text,
		"cloister artifact v1\nexecution %s\npath %s\nsize %" PRIu64
		"\nsha256 %s\ntype %s\ntime %s\n",
		a->execution_id, a->filename, a->size, a->sha256, a->mime_type, a->signed_at) < 0) {
		err_sys(e, "statement");
		return NULL;
	}
	return text;
}

int
seal_decode(const char *name, const char *text, void *bytes, size_t size, struct err *e)
{
	size_t length = strcspn(text, "\r\n"), got;

	if (text[length + strspn(text + length, "\r\n")] == 0 &&
	    sodium_base642bin(
		bytes, size, text, length, NULL, &got, NULL, sodium_base64_VARIANT_ORIGINAL) == 0 &&
	    got == size)
		return 0;
	return err_set(e, ERR_invalid_argument, "%s: not the base64 of %zu bytes", name, size);
}

int
seal_verify(const struct artifact *a, const char *public_key, struct err *e)
{
	uint8_t key[SEAL_KEY_BYTES], signature[crypto_sign_BYTES];
	auto_free char *statement = seal_statement(a, e);

	if (statement == NULL || seal_decode("key", public_key, key, sizeof key, e) < 0)
		return -1;
	if (a->signature == NULL)
		return err_set(e, ERR_invalid_argument, "signature: missing");
	if (seal_decode("signature", a->signature, signature, sizeof signature, e) < 0)
		return -1;
	if (crypto_sign_verify_detached(
		signature, (const uint8_t *)statement, strlen(statement), key) != 0)
		return err_set(e, ERR_denied,
		    "the key does not verify the signature of this run, name, size, digest, type "
		    "and "
		    "time");
	return 0;
}
