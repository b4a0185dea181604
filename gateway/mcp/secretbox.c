/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secretbox.c - [made, until, value] under an AEAD; nonce and box, base64url.
 *
 * Texts come from clients and are not trusted: only a text that opens under the key is parsed.
 */
#include "gateway/mcp/secretbox.h"

#include "common/base/auto.h"

#include <sodium.h>
#include <string.h>
#include <time.h>

enum {
	TAG = crypto_aead_xchacha20poly1305_ietf_ABYTES,
	BASE64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING,
};

_Static_assert(SECRETBOX_KEY == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "a key");
_Static_assert(SECRETBOX_NONCE == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, "a nonce");

int64_t
secretbox_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Each text with its terminating zero byte, so that adjacent texts cannot be confused. */
static unsigned char *
join(const char *const texts[], size_t *size)
{
	char *joined, *at;

	*size = 0;
	for (const char *const *text = texts; *text != NULL; text++)
		*size += strlen(*text) + 1;
	at = joined = malloc(*size + 1);
	for (const char *const *text = texts; joined != NULL && *text != NULL; text++)
		at = stpcpy(at, *text) + 1;
	return (unsigned char *)joined;
}

/* Nonce and box, allocated with malloc. */
static unsigned char *
lock(const unsigned char *key, const char *const about[], const char *plain, size_t *size)
{
	size_t n = strlen(plain), nabout;
	auto_free unsigned char *with = join(about, &nabout);
	unsigned char *box = with == NULL ? NULL : malloc(SECRETBOX_NONCE + n + TAG);

	if (box == NULL)
		return NULL;
	randombytes_buf(box, SECRETBOX_NONCE);
	crypto_aead_xchacha20poly1305_ietf_encrypt(box + SECRETBOX_NONCE, NULL,
	    (const unsigned char *)plain, n, with, nabout, NULL, box, key);
	*size = SECRETBOX_NONCE + n + TAG;
	return box;
}

char *
secretbox_make(const unsigned char key[SECRETBOX_KEY], const char *const about[],
    const json_t *value, int64_t life_s)
{
	int64_t now_ms = secretbox_now_ms();
	json_t *whole = json_pack("[I, I, O]", (json_int_t)now_ms,
	    (json_int_t)now_ms + (json_int_t)life_s * 1000, (json_t *)(uintptr_t)value);
	auto_free char *plain = json_dumps(whole, JSON_COMPACT);
	size_t size = 0;

	json_decref(whole);

	auto_free unsigned char *box = plain == NULL ? NULL : lock(key, about, plain, &size);
	char *text = box == NULL ? NULL : malloc(sodium_base64_encoded_len(size, BASE64));

	if (text != NULL)
		sodium_bin2base64(text, sodium_base64_encoded_len(size, BASE64), box, size, BASE64);
	return text;
}

/* The plain text with a zero byte, allocated with malloc; NULL: it was not made with this key
 * and context. */
static char *
unlock(const unsigned char *key, const char *const about[], const char *text, struct secret *s)
{
	size_t n = strlen(text), size = 0, nabout;
	auto_free unsigned char *with = join(about, &nabout);
	auto_free unsigned char *box = n > SECRETBOX_MAX ? NULL : malloc(n + 1);

	if (with == NULL || box == NULL ||
	    sodium_base642bin(box, n, text, n, NULL, &size, NULL, BASE64) != 0 ||
	    size < SECRETBOX_NONCE + TAG)
		return NULL;

	auto_free char *plain = malloc(size);
	unsigned long long got;

	if (plain == NULL ||
	    crypto_aead_xchacha20poly1305_ietf_decrypt((unsigned char *)plain, &got, NULL,
		box + SECRETBOX_NONCE, size - SECRETBOX_NONCE, with, nabout, box, key) != 0)
		return NULL;
	plain[got] = '\0';
	memcpy(s->nonce, box, SECRETBOX_NONCE);
	return take_ptr(plain);
}

int
secretbox_open(const unsigned char key[SECRETBOX_KEY], const char *const about[], const char *text,
    struct secret *s, bool *expired)
{
	auto_free char *plain = unlock(key, about, text, s);
	json_t *whole = plain == NULL ? NULL : json_loads(plain, 0, NULL);

	*expired = false;
	s->made_ms = json_integer_value(json_array_get(whole, 0));
	s->until_ms = json_integer_value(json_array_get(whole, 1));
	s->value = json_incref(json_array_get(whole, 2));
	json_decref(whole);
	if (s->value == NULL)
		return -1;
	*expired = s->until_ms < secretbox_now_ms();
	if (!*expired)
		return 0;
	json_decref(take_ptr(s->value));
	return -1;
}
