/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.c - holds the signing key of the checkpoints; trusts every uid that can write the log's
 * directory.
 *
 * If root starts auditd, root opens the key before the jail.  The jailed daemon then has the key in
 * memory and cannot read the file again.
 */
#include "auditd/key.h"

#include "auditd/logfile.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/timestamp.h"
#include "common/crypto/seal.h"
#include "common/table/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NAME "audit.key"

enum { ISSUED = 16 }; /* recently signed texts; more than there can be peers */

static struct {
	uint8_t public[CHECKPOINT_PUBLIC], secret[CHECKPOINT_SECRET];
	char issued[ISSUED][CHECKPOINT_TEXT];
	size_t last;
	uint64_t number; /* the record of issued[last]; 0: none */
} key;

static int
make(int state, struct err *e)
{
	uint8_t seed[SEAL_KEY_BYTES];
	char text[SEAL_KEY];

	randombytes_buf(seed, sizeof seed);
	sodium_bin2base64(text, sizeof text, seed, sizeof seed, sodium_base64_VARIANT_ORIGINAL);

	int status = fdio_store(state, NAME, text, sizeof text - 1, 0600, e);

	sodium_memzero(seed, sizeof seed);
	sodium_memzero(text, sizeof text);
	return status;
}

static int
load(int state, struct err *e)
{
	uint8_t seed[SEAL_KEY_BYTES];
	struct blob text = { 0 };

	if (fdio_load(state, NAME, SEAL_KEY + 1, &text, e) < 0)
		return -1;

	int status = seal_decode(NAME, text.data, seed, sizeof seed, e);

	if (status == 0)
		crypto_sign_seed_keypair(key.public, key.secret, seed);
	sodium_memzero(seed, sizeof seed);
	sodium_memzero(text.data, text.size);
	blob_clear(&text);
	return status;
}

/* The public key, for users who verify the log and may not read the private key. */
static int
publish(int state, struct err *e)
{
	char text[CHECKPOINT_KEY];
	struct blob was = { 0 };

	checkpoint_key_text(key.public, text);

	bool same = fdio_load(state, KEY_PUBLIC, sizeof text, &was, e) == 0 &&
	            was.size == strlen(text) && memcmp(was.data, text, was.size) == 0;

	blob_clear(&was);
	return same ? 0 : fdio_store(state, KEY_PUBLIC, text, strlen(text), 0644, e);
}

static bool
has_log(int state)
{
	auto_free uint64_t *closed = NULL;
	size_t count = 0;
	struct stat log;
	struct err ignored;

	return (fstatat(state, LOGFILE_OPEN, &log, AT_SYMLINK_NOFOLLOW) == 0 && log.st_size > 0) ||
	       logfile_list(state, &closed, &count, &ignored) < 0 || count > 0;
}

/* A new log has no record yet. */
static int
make_first(int state, bool accept_new, struct err *e)
{
	if (!accept_new && has_log(state))
		return err_set(e, ERR_internal,
		    "missing, but there is a log, whose checkpoints a new key cannot verify: "
		    "restore the key, or start auditd once with --accept-new-key");
	return make(state, e) < 0 ? -1 : load(state, e);
}

int
key_open(int state, bool accept_new, struct err *e)
{
	memset(&key, 0, sizeof key);
	if (load(state, e) < 0 && (e->sys != ENOENT || make_first(state, accept_new, e) < 0))
		return err_add(e, NAME);
	return publish(state, e);
}

void
key_close(void)
{
	sodium_memzero(&key, sizeof key);
}

const uint8_t *
key_public(void)
{
	return key.public;
}

const char *
key_sign(uint64_t number, const uint8_t seal[HASH_BYTES])
{
	struct checkpoint c = { .number = number, .time_ms = timestamp_ms() };

	if (key.number == number && number != 0)
		return key.issued[key.last];
	memcpy(c.seal, seal, HASH_BYTES);
	key.number = number;
	key.last = (key.last + 1) % ISSUED;
	checkpoint_sign(&c, key.secret, key.issued[key.last]);
	return key.issued[key.last];
}

void
key_state(const struct chain_end *end, char text[CHECKPOINT_TEXT])
{
	struct checkpoint c = { .number = end->number, .time_ms = timestamp_ms() };

	memcpy(c.seal, end->seal, HASH_BYTES);
	checkpoint_sign(&c, key.secret, text);
}

bool
key_signed(const char *text)
{
	for (size_t i = 0; i < ISSUED; i++)
		if (strcmp(key.issued[i], text) == 0)
			return text[0] != '\0';
	return false;
}

/* ---- --public-key ---- */

static int
print(const char *state, const char *instance, struct err *e)
{
	bool first = strcmp(instance, "1") == 0;
	auto_free char *path = NULL;
	struct blob text = { 0 };

	if (asprintf(&path, "%s/auditd%s%s/" KEY_PUBLIC, state, first ? "" : "-",
		first ? "" : instance) < 0)
		return err_sys(e, "path");
	if (fdio_load(AT_FDCWD, path, CHECKPOINT_KEY, &text, e) < 0)
		return err_add(e, "%s, which auditd creates at its first start", path);
	puts(text.data);
	blob_clear(&text);
	return 0;
}

int
key_print(int argc, char **argv)
{
	static char *run, *state, *config, *log_level, *instance;
	static struct setting rows[SETTINGS_SHARED + 2];
	struct err e;

	settings_shared(rows, &run, &state, &config, &log_level);
	/* clang-format off */
#define SETTING(name, kind, fallback, low, high, also, doc) \
	rows[SETTINGS_SHARED] = (struct setting){ #name, KIND_##kind, &name, fallback, low, high, also, doc };
#include "common/daemon/instance.def"
#undef SETTING
	/* clang-format on */
	settings_load(
	    "auditd", "print the public key of the log's checkpoints", rows, NULL, argc, argv);
	if (print(state, instance, &e) == 0)
		return 0;
	fprintf(stderr, "%s\n", e.text);
	return 1;
}
