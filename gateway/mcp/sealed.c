/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sealed.c - {"made", "until": ms, "value": ...} under an AEAD; nonce and box, base64url.
 *
 * Texts come from clients and are not trusted: only what opens under the key is parsed.
 */
#include "gateway/mcp/sealed.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/crypto/seal.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

enum {
	KEY = crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
	NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
	TAG = crypto_aead_xchacha20poly1305_ietf_ABYTES,
	FILE_BYTES = 1024,
	BASE64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING,
};

static struct {
	bool made;
	unsigned char key[KEY];
} self;

/* The clock that gateways who share a key share, too. */
static int64_t
clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int
sealed_open(const char *path, struct err *e)
{
	struct blob text;

	if (sodium_init() < 0)
		return err_set(e, ERR_internal, "libsodium does not start");
	self.made = true;
	if (path[0] == '\0') {
		randombytes_buf(self.key, sizeof self.key);
		return 0;
	}
	if (fdio_load_given(path, FILE_BYTES, &text, e) < 0)
		return err_add(e, "seal_key");

	int failed = seal_decode("seal_key", text.data, self.key, sizeof self.key, e);

	sodium_memzero(text.data, text.size);
	blob_clear(&text);
	return failed;
}

/* What is authenticated beside: each text with its end, so that none runs into another. */
static char *
context(const char *purpose, const struct account *who, size_t *size)
{
	const char *parts[] = { purpose, who->principal,
		who->namespace != NULL ? who->namespace : "" };
	char *text, *at;

	*size = 0;
	for (size_t i = 0; i < COUNT(parts); i++)
		*size += strlen(parts[i]) + 1;
	at = text = malloc(*size);
	for (size_t i = 0; text != NULL && i < COUNT(parts); i++)
		at = stpcpy(at, parts[i]) + 1;
	return text;
}

/* Nonce and box, of malloc. */
static unsigned char *
lock(const char *about, size_t nabout, const char *plain, size_t *size)
{
	size_t n = strlen(plain);
	unsigned char *box = malloc(NONCE + n + TAG);

	if (box == NULL)
		return NULL;
	randombytes_buf(box, NONCE);
	crypto_aead_xchacha20poly1305_ietf_encrypt(box + NONCE, NULL, (const unsigned char *)plain,
	    n, (const unsigned char *)about, nabout, NULL, box, self.key);
	*size = NONCE + n + TAG;
	return box;
}

char *
sealed_make(const char *purpose, const struct account *who, const json_t *value, int64_t life_s)
{
	json_int_t now_ms = clock_ms(), until_ms = now_ms + life_s * 1000;
	json_t *whole = json_pack("{s:I, s:I, s:O}", "made", now_ms, "until", until_ms, "value",
	    (json_t *)(uintptr_t)value);
	size_t nabout = 0, size = 0;
	auto_free char *plain = json_dumps(whole, JSON_COMPACT);
	auto_free char *about = context(purpose, who, &nabout);

	must(self.made);
	json_decref(whole);
	if (plain == NULL || about == NULL)
		return NULL;

	auto_free unsigned char *box = lock(about, nabout, plain, &size);
	char *text = box == NULL ? NULL : malloc(sodium_base64_encoded_len(size, BASE64));

	if (text != NULL)
		sodium_bin2base64(text, sodium_base64_encoded_len(size, BASE64), box, size, BASE64);
	return text;
}

/* The plain text, with a zero byte, of malloc; NULL: it is not of this key, purpose and owner. */
static char *
unlock(const char *about, size_t nabout, const char *text, unsigned char nonce[NONCE])
{
	size_t n = strlen(text), size = 0;
	auto_free unsigned char *box = n > SEALED_MAX ? NULL : malloc(n + 1);

	if (box == NULL || sodium_base642bin(box, n, text, n, NULL, &size, NULL, BASE64) != 0 ||
	    size < NONCE + TAG)
		return NULL;

	auto_free char *plain = malloc(size);
	unsigned long long got;

	if (plain == NULL || crypto_aead_xchacha20poly1305_ietf_decrypt((unsigned char *)plain,
				 &got, NULL, box + NONCE, size - NONCE,
				 (const unsigned char *)about, nabout, box, self.key) != 0)
		return NULL;
	plain[got] = '\0';
	memcpy(nonce, box, NONCE);
	return take_ptr(plain);
}

/* All of what was sealed, a new reference. */
static json_t *
open_seal(const char *purpose, const struct account *who, const char *text,
    unsigned char nonce[NONCE], struct err *e)
{
	size_t nabout = 0;
	auto_free char *about = context(purpose, who, &nabout);

	must(self.made);

	auto_free char *plain = about == NULL ? NULL : unlock(about, nabout, text, nonce);
	json_t *whole = plain == NULL ? NULL : json_loads(plain, 0, NULL);

	if (json_object_get(whole, "value") == NULL)
		err_set(e, ERR_invalid_argument,
		    "it was not given out by this server for this request");
	else if (json_integer_value(json_object_get(whole, "until")) < clock_ms())
		err_set(e, ERR_invalid_argument, "it has expired; begin anew");
	else
		return whole;
	json_decref(whole);
	return NULL;
}

/* A nonce is random for each seal, so that its beginning names it. */
static void
note_use(const json_t *whole, const unsigned char nonce[NONCE], struct sealed_use *use)
{
	sodium_bin2hex(use->id, sizeof use->id, nonce, SEALED_ID / 2);
	use->made_ms = json_integer_value(json_object_get(whole, "made"));
	use->until_ms = json_integer_value(json_object_get(whole, "until"));
}

json_t *
sealed_read(const char *purpose, const struct account *who, const char *text,
    struct sealed_use *use, struct err *e)
{
	unsigned char nonce[NONCE];
	json_t *whole = open_seal(purpose, who, text, nonce, e), *value;

	if (whole == NULL)
		return NULL;
	if (use != NULL)
		note_use(whole, nonce, use);
	value = json_incref(json_object_get(whole, "value"));
	json_decref(whole);
	return value;
}
