/* SPDX-License-Identifier: Apache-2.0 */
/* session_id.c - makes and verifies ids of sessions; trusts nothing in an incoming id. */
#include "executor/session/session_id.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/hash.h"
#include "common/daemon/daemon.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
	KEY_BYTES = 32,
	NONCE_HEX = 16,
	CODE_HEX = 16,
	TAIL_HEX = NONCE_HEX + CODE_HEX,
};

static const char prefix[] = "sess_";
static const char key_file[] = "session.key";
static uint8_t secret[KEY_BYTES];

static int
make_key(struct err *e)
{
	randombytes_buf(secret, sizeof secret);
	return fdio_store(daemon_state(), key_file, secret, sizeof secret, 0600, e);
}

int
session_id_open(struct err *e)
{
	const size_t room = SESSION_ID - sizeof prefix - 1 - TAIL_HEX;
	struct blob key = { 0 };

	if (strlen(daemon_instance()) > room)
		return err_set(e, ERR_invalid_argument, "instance: more than %zu bytes", room);
	if (fdio_load(daemon_state(), key_file, KEY_BYTES, &key, e) < 0)
		return e->sys == ENOENT ? make_key(e) : err_add(e, "%s", key_file);

	bool whole = key.size == KEY_BYTES;

	if (whole)
		memcpy(secret, key.data, KEY_BYTES);
	sodium_memzero(key.data, key.size);
	blob_clear(&key);
	return whole ? 0
	             : err_set(e, ERR_internal, "%s: size is not %d bytes", key_file, KEY_BYTES);
}

static void
make_code(const struct owner *owner, const char *nonce, char code[CODE_HEX + 1])
{
	const char *instance = daemon_instance();
	char key[OWNER_KEY];
	size_t size = owner_key(owner, key);
	crypto_generichash_state state;
	uint8_t digest[crypto_generichash_BYTES];

	crypto_generichash_init(&state, secret, sizeof secret, sizeof digest);
	crypto_generichash_update(&state, (const uint8_t *)instance, strlen(instance) + 1);
	crypto_generichash_update(&state, (const uint8_t *)key, size);
	crypto_generichash_update(&state, (const uint8_t *)nonce, NONCE_HEX);
	crypto_generichash_final(&state, digest, sizeof digest);
	sodium_bin2hex(code, CODE_HEX + 1, digest, CODE_HEX / 2);
}

void
session_id_make(const struct owner *owner, char id[SESSION_ID])
{
	char nonce[NONCE_HEX + 1], code[CODE_HEX + 1];

	hash_random_hex(nonce, sizeof nonce);
	make_code(owner, nonce, code);
	snprintf(id, SESSION_ID, "%s%s_%s%s", prefix, daemon_instance(), nonce, code);
}

/* The digits at the end of an id of the right form, or NULL. */
static const char *
tail_of(const char *id)
{
	const char *tail = strrchr(id, '_');

	if (strncmp(id, prefix, sizeof prefix - 1) != 0 || tail < id + sizeof prefix)
		return NULL;
	tail++;
	return strspn(tail, "0123456789abcdef") == TAIL_HEX && tail[TAIL_HEX] == 0 ? tail : NULL;
}

bool
session_id_formed(const char *id)
{
	return tail_of(id) != NULL;
}

const char *
session_id_name(const char *id)
{
	static const char form[] = "name:";

	return strncmp(id, form, sizeof form - 1) == 0 ? id + sizeof form - 1 : NULL;
}

int
session_id_check_name(const char *name, struct err *e)
{
	static const char all[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t size = strlen(name);

	if (size > 0 && size < SESSION_NAME && strspn(name, all) == size)
		return 0;
	return err_set(e, ERR_invalid_argument,
	    "session_id: \"%.64s\" is not 1 to 64 letters, digits, _ and -", name);
}

bool
session_id_given(const struct owner *owner, const char *id)
{
	const char *instance = id + sizeof prefix - 1, *tail = tail_of(id);
	char code[CODE_HEX + 1];

	if (tail == NULL || strlen(daemon_instance()) != (size_t)(tail - 1 - instance) ||
	    strncmp(instance, daemon_instance(), (size_t)(tail - 1 - instance)) != 0)
		return false;
	make_code(owner, tail, code);
	return sodium_memcmp(code, tail + NONCE_HEX, CODE_HEX) == 0;
}
