/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.c - formats and verifies checkpoints.
 *
 * Trusts no byte of a text: the parsed values are formatted again and must give the same text, so
 * each statement has exactly one form.
 */
#include "common/crypto/checkpoint.h"

#include <endian.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ORIGIN "cloister-audit-sha256-chain/"
#define DASH   "\xe2\x80\x94 " /* U+2014 and a space open a signature line */

enum {
	KIND_ED25519 = 1, /* the number of Ed25519 in signed notes */
	KEY_HASH = 4,
	SEAL_TEXT = 45,
	SIGNATURE = KEY_HASH + crypto_sign_BYTES,
	SIGNATURE_TEXT = 97, /* base64, with its zero byte */
};

_Static_assert(CHECKPOINT_PUBLIC == crypto_sign_PUBLICKEYBYTES, "of Ed25519");
_Static_assert(CHECKPOINT_SECRET == crypto_sign_SECRETKEYBYTES, "of Ed25519");

/* ---- keys ---- */

static void
origin_of(const uint8_t public[CHECKPOINT_PUBLIC], char origin[CHECKPOINT_ORIGIN])
{
	char hex[HASH_HEX];

	hash_hex(public, CHECKPOINT_PUBLIC, hex);
	snprintf(origin, CHECKPOINT_ORIGIN, ORIGIN "%.16s", hex);
}

static void
key_hash(const char *name, const uint8_t public[CHECKPOINT_PUBLIC], uint8_t out[KEY_HASH])
{
	static const uint8_t kind[] = { '\n', KIND_ED25519 };
	uint8_t digest[HASH_BYTES];
	struct hash hash;

	hash_begin(&hash);
	hash_add(&hash, name, strlen(name));
	hash_add(&hash, kind, sizeof kind);
	hash_add(&hash, public, CHECKPOINT_PUBLIC);
	hash_end(&hash, digest);
	memcpy(out, digest, KEY_HASH);
}

void
checkpoint_key_text(const uint8_t public[CHECKPOINT_PUBLIC], char text[CHECKPOINT_KEY])
{
	char origin[CHECKPOINT_ORIGIN], base64[SEAL_TEXT];
	uint8_t hash[KEY_HASH], key[1 + CHECKPOINT_PUBLIC] = { KIND_ED25519 };

	origin_of(public, origin);
	key_hash(origin, public, hash);
	memcpy(key + 1, public, CHECKPOINT_PUBLIC);
	sodium_bin2base64(base64, sizeof base64, key, sizeof key, sodium_base64_VARIANT_ORIGINAL);
	snprintf(text, CHECKPOINT_KEY, "%s+%02x%02x%02x%02x+%s", origin, hash[0], hash[1], hash[2],
	    hash[3], base64);
}

int
checkpoint_key_read(const char *text, uint8_t public[CHECKPOINT_PUBLIC], struct err *e)
{
	const char *last = strrchr(text, '+'), *base64;
	uint8_t key[1 + CHECKPOINT_PUBLIC];
	char again[CHECKPOINT_KEY];
	size_t size = strcspn(text, "\r\n"), got;

	/* The base64 may also contain '+', so it is found by its length. */
	base64 = size > SEAL_TEXT - 1 ? text + size - (SEAL_TEXT - 1) : NULL;
	if (last != NULL && base64 != NULL &&
	    sodium_base642bin(key, sizeof key, base64, SEAL_TEXT - 1, NULL, &got, NULL,
		sodium_base64_VARIANT_ORIGINAL) == 0 &&
	    got == sizeof key && key[0] == KIND_ED25519) {
		checkpoint_key_text(key + 1, again);
		if (strlen(again) == size && memcmp(again, text, size) == 0) {
			memcpy(public, key + 1, CHECKPOINT_PUBLIC);
			return 0;
		}
	}
	return err_set(
	    e, ERR_invalid_argument, "not a key in the format of cloister-auditd --public-key");
}

/* ---- signing ---- */

/* Writes the signed part; returns its length. */
static size_t
write_body(const struct checkpoint *c, const char *origin, char text[CHECKPOINT_TEXT])
{
	char seal[SEAL_TEXT];

	sodium_bin2base64(
	    seal, sizeof seal, c->seal, sizeof c->seal, sodium_base64_VARIANT_ORIGINAL);
	return (size_t)snprintf(text, CHECKPOINT_TEXT, "%s\n%" PRIu64 "\n%s\ntime %" PRIu64 "\n",
	    origin, c->number, seal, c->time_ms);
}

void
checkpoint_sign(
    const struct checkpoint *c, const uint8_t secret[CHECKPOINT_SECRET], char text[CHECKPOINT_TEXT])
{
	/* libsodium stores the public key after the seed. */
	const uint8_t *public = secret + CHECKPOINT_SECRET - CHECKPOINT_PUBLIC;
	char origin[CHECKPOINT_ORIGIN], base64[SIGNATURE_TEXT];
	uint8_t signature[SIGNATURE];

	origin_of(public, origin);

	size_t size = write_body(c, origin, text);

	key_hash(origin, public, signature);
	crypto_sign_detached(signature + KEY_HASH, NULL, (const uint8_t *)text, size, secret);
	sodium_bin2base64(
	    base64, sizeof base64, signature, sizeof signature, sodium_base64_VARIANT_ORIGINAL);
	snprintf(text + size, CHECKPOINT_TEXT - size, "\n" DASH "%s %s\n", origin, base64);
}

/* ---- verification ---- */

/* Copies a line and skips its newline; false: there is none, or the line is too long. */
static bool
take_line(const char **text, char *line, size_t room)
{
	size_t size = strcspn(*text, "\n");

	if ((*text)[size] != '\n' || size >= room)
		return false;
	memcpy(line, *text, size);
	line[size] = '\0';
	*text += size + 1;
	return true;
}

/* strtoull() accepts more than digits, but such a number differs when it is formatted again. */
static uint64_t
number_of(const char *text)
{
	return strtoull(text, NULL, 10);
}

/* size: bytes of the signed part. */
static bool
read_body(const char *text, struct checkpoint *c, size_t *size)
{
	char number[32], seal[SEAL_TEXT], time[32], again[CHECKPOINT_TEXT];
	const char *at = text;
	size_t got;

	if (!take_line(&at, c->origin, sizeof c->origin) ||
	    !take_line(&at, number, sizeof number) || !take_line(&at, seal, sizeof seal) ||
	    !take_line(&at, time, sizeof time) || strncmp(time, "time ", 5) != 0 || *at != '\n')
		return false;
	if (strncmp(c->origin, ORIGIN, strlen(ORIGIN)) != 0 ||
	    sodium_base642bin(c->seal, sizeof c->seal, seal, strlen(seal), NULL, &got, NULL,
		sodium_base64_VARIANT_ORIGINAL) != 0 ||
	    got != sizeof c->seal)
		return false;
	c->number = number_of(number);
	c->time_ms = number_of(time + 5);
	*size = (size_t)(at - text);
	return write_body(c, c->origin, again) == *size && memcmp(again, text, *size) == 0;
}

static int
read_text(const char *text, struct checkpoint *c, size_t *size, struct err *e)
{
	*c = (struct checkpoint){ 0 };
	if (strlen(text) < CHECKPOINT_TEXT && read_body(text, c, size))
		return 0;
	return err_set(e, ERR_invalid_argument, "not a checkpoint of an audit log");
}

int
checkpoint_read(const char *text, struct checkpoint *c, struct err *e)
{
	size_t size;

	return read_text(text, c, &size, e);
}

/* Finds the signature of that name and key; other signatures may be present. */
static bool
find_signature(
    const char *lines, const char *name, const uint8_t hash[KEY_HASH], uint8_t signature[SIGNATURE])
{
	char start[CHECKPOINT_ORIGIN + sizeof DASH + 1];
	size_t size = (size_t)snprintf(start, sizeof start, DASH "%s ", name), got;

	for (const char *next; *lines != '\0'; lines = next) {
		size_t length = strcspn(lines, "\n");

		next = lines + length + (lines[length] == '\n');
		if (strncmp(lines, start, size) == 0 &&
		    sodium_base642bin(signature, SIGNATURE, lines + size, length - size, NULL, &got,
			NULL, sodium_base64_VARIANT_ORIGINAL) == 0 &&
		    got == SIGNATURE && memcmp(signature, hash, KEY_HASH) == 0)
			return true;
	}
	return false;
}

int
checkpoint_verify(
    const char *text, const uint8_t public[CHECKPOINT_PUBLIC], struct checkpoint *c, struct err *e)
{
	char origin[CHECKPOINT_ORIGIN];
	uint8_t hash[KEY_HASH], signature[SIGNATURE];
	size_t size;

	if (read_text(text, c, &size, e) < 0)
		return -1;
	origin_of(public, origin);
	key_hash(origin, public, hash);
	if (strcmp(origin, c->origin) != 0 ||
	    !find_signature(text + size + 1, origin, hash, signature))
		return err_set(e, ERR_not_found,
		    "the checkpoint is not signed by key %s, but by %s", origin, c->origin);
	if (crypto_sign_verify_detached(
		signature + KEY_HASH, (const uint8_t *)text, size, public) != 0)
		return err_set(e, ERR_denied, "the signature of the checkpoint is not valid");
	return 0;
}
