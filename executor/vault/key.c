/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.c - reads, makes and stores keys; trusts the directory of the vault, and the file that the
 * operator named.
 */
#include "executor/vault/key.h"

#include "executor/vault/options.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/crypto/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define NAME "vault.key"

_Static_assert((int)KEY_BYTES == (int)SEAL_KEY_BYTES, "one form of keys in text");

enum { TEXT_BYTES = KEY_MAX * (SEAL_KEY + 1) };

static struct {
	uint8_t (*at)[KEY_BYTES]; /* KEY_MAX of the vault, and one of this process */
	size_t count;
	bool given; /* by the operator */
	int state;
} keys;

static int
make_room(struct err *e)
{
	if (sodium_init() < 0)
		return err_set(e, ERR_internal, "libsodium does not start");
	if (keys.at == NULL)
		keys.at = sodium_allocarray(KEY_MAX + 1, KEY_BYTES);
	if (keys.at == NULL)
		return err_sys(e, "locked memory for keys");
	randombytes_buf(keys.at[KEY_MAX], KEY_BYTES);
	return 0;
}

/* Modifies the text: each line ends in a zero byte afterwards. */
static int
parse(char *text, struct err *e)
{
	char *rest = NULL;

	keys.count = 0;
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (keys.count == KEY_MAX)
			return err_set(e, ERR_limit_exceeded, NAME ": more than %d keys", KEY_MAX);
		if (seal_decode(NAME, line, keys.at[keys.count], KEY_BYTES, e) < 0)
			return -1;
		keys.count++;
	}
	return keys.count > 0 ? 0 : err_set(e, ERR_invalid_argument, NAME ": no key");
}

static int
parse_and_wipe(struct blob *text, struct err *e)
{
	int status = parse(text->data, e);

	sodium_memzero(text->data, text->size);
	blob_clear(text);
	return status;
}

static int
open_given(const char *path, bool strict, struct err *e)
{
	struct blob text = { 0 };
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "open %s", path);
	if ((strict && fdio_check_private(fd, e) < 0) ||
	    fdio_load_open(fd, NAME, TEXT_BYTES, &text, e) < 0 || parse_and_wipe(&text, e) < 0)
		return err_add(e, "%s", path);
	keys.given = true;
	return 0;
}

int
key_open(struct err *e)
{
	const char *credentials = getenv("CREDENTIALS_DIRECTORY");
	char path[4096];

	if (make_room(e) < 0)
		return -1;
	if (options.key_file[0] != '\0')
		return open_given(options.key_file, true, e);
	if (credentials == NULL)
		return 0;
	snprintf(path, sizeof path, "%s/" NAME, credentials);
	return access(path, F_OK) == 0 ? open_given(path, false, e) : 0;
}

static int
save(struct err *e)
{
	char *text = keys.state < 0 ? NULL : sodium_malloc(TEXT_BYTES);
	size_t size = 0;

	if (keys.state < 0)
		return 0;
	if (text == NULL)
		return err_sys(e, "locked memory for keys");
	for (size_t i = 0; i < keys.count; i++) {
		sodium_bin2base64(
		    text + size, SEAL_KEY, keys.at[i], KEY_BYTES, sodium_base64_VARIANT_ORIGINAL);
		size += SEAL_KEY - 1;
		text[size++] = '\n';
	}

	int status = fdio_store(keys.state, NAME, text, size, 0600, e);

	sodium_free(text);
	return status;
}

int
key_start(int state, bool sealed_exists, struct err *e)
{
	struct blob text = { 0 };

	keys.state = state;
	if (keys.given)
		return 0;
	if (state >= 0 && fdio_load(state, NAME, TEXT_BYTES, &text, e) == 0)
		return parse_and_wipe(&text, e);
	if (state >= 0 && e->sys != ENOENT)
		return -1;
	if (sealed_exists)
		return err_set(e, ERR_not_found,
		    NAME " is missing, and secrets were sealed with it; restore it, or remove the "
			 "file vault.sealed to start without secrets");
	randombytes_buf(keys.at[0], KEY_BYTES);
	keys.count = 1;
	return save(e);
}

const uint8_t *
key_at(size_t i)
{
	return i < keys.count ? keys.at[i] : NULL;
}

const uint8_t *
key_of_memory(void)
{
	return keys.at[KEY_MAX];
}

void
key_undo(void)
{
	memcpy(keys.at[0], keys.at[1], KEY_BYTES);
	keys.count = 1;
}

int
key_renew(struct err *e)
{
	if (keys.given)
		return err_set(e, ERR_denied,
		    "the operator gave this key: put a new key before it in the same file and "
		    "restart the vault");
	memmove(keys.at[1], keys.at[0], KEY_BYTES);
	randombytes_buf(keys.at[0], KEY_BYTES);
	keys.count = 2;
	if (save(e) == 0)
		return 0;
	key_undo();
	return -1;
}

int
key_forget_old(struct err *e)
{
	if (keys.given || keys.count < 2)
		return 0;
	keys.count = 1;
	sodium_memzero(keys.at[1], KEY_BYTES);
	return save(e);
}

void
key_close(void)
{
	sodium_free(keys.at);
	keys.at = NULL;
	keys.count = 0;
	keys.given = false;
}
