/* SPDX-License-Identifier: Apache-2.0 */
/* sign.c - holds the signing key; trusts every user that can write the state directory or the
 * key file. */
#include "executor/session/sign.h"

#include "executor/options.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/hash.h"
#include "common/base/timestamp.h"
#include "common/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>

static const char key_file[] = "artifact.key", public_file[] = "artifact.pub";

static struct {
	uint8_t secret[crypto_sign_SECRETKEYBYTES];
	char public[SEAL_KEY];
	bool there;
} key;

static void
take_seed(const uint8_t seed[SEAL_KEY_BYTES])
{
	uint8_t public[crypto_sign_PUBLICKEYBYTES];

	crypto_sign_seed_keypair(public, key.secret, seed);
	sodium_bin2base64(
	    key.public, sizeof key.public, public, sizeof public, sodium_base64_VARIANT_ORIGINAL);
	key.there = true;
}

static int
load(int dir, const char *name, struct err *e)
{
	uint8_t seed[SEAL_KEY_BYTES];
	struct blob text = { 0 };

	if (fdio_load(dir, name, SEAL_KEY + 1, &text, e) < 0)
		return err_add(e, "%s", name);

	int status = seal_decode(name, text.data, seed, sizeof seed, e);

	if (status == 0)
		take_seed(seed);
	sodium_memzero(seed, sizeof seed);
	sodium_memzero(text.data, text.size);
	blob_clear(&text);
	return status;
}

static int
make(struct err *e)
{
	uint8_t seed[SEAL_KEY_BYTES];
	char text[SEAL_KEY];

	randombytes_buf(seed, sizeof seed);
	sodium_bin2base64(text, sizeof text, seed, sizeof seed, sodium_base64_VARIANT_ORIGINAL);

	int status = fdio_store(daemon_state(), key_file, text, sizeof text - 1, 0600, e);

	if (status == 0)
		take_seed(seed);
	sodium_memzero(seed, sizeof seed);
	sodium_memzero(text, sizeof text);
	return status;
}

/* Publishes the key for `cloister status` and `cloister verify`, which cannot read the private
 * one. */
static int
publish(struct err *e)
{
	struct blob was = { 0 };
	bool same = fdio_load(daemon_state(), public_file, sizeof key.public, &was, e) == 0 &&
	            was.size == strlen(key.public) && memcmp(was.data, key.public, was.size) == 0;

	blob_clear(&was);
	return same ? 0
	            : fdio_store(
			  daemon_state(), public_file, key.public, strlen(key.public), 0644, e);
}

int
sign_open(struct err *e)
{
	return options.artifact_key_file[0] != 0 ? load(AT_FDCWD, options.artifact_key_file, e) : 0;
}

int
sign_start(struct err *e)
{
	if (!key.there && load(daemon_state(), key_file, e) < 0 &&
	    (e->sys != ENOENT || make(e) < 0))
		return -1;
	return publish(e);
}

const char *
sign_public_key(void)
{
	return key.public;
}

static char *
now(void)
{
	char text[TIMESTAMP_TEXT];

	timestamp_text(timestamp_now(), 3, text);
	return strdup(text);
}

int
sign_artifact(struct artifact *a, const char *execution_id, struct err *e)
{
	uint8_t signature[crypto_sign_BYTES];

	if (a->sha256 == NULL)
		return 0;
	free(a->execution_id);
	free(a->signed_at);
	a->execution_id = strdup(execution_id);
	a->signed_at = now();

	auto_free char *statement = seal_statement(a, e);

	free(a->signature);
	a->signature = statement != NULL ? malloc(SEAL_SIGNATURE) : NULL;
	if (a->signature == NULL)
		return statement == NULL ? -1 : err_sys(e, "signature");
	crypto_sign_detached(
	    signature, NULL, (const uint8_t *)statement, strlen(statement), key.secret);
	sodium_bin2base64(a->signature, SEAL_SIGNATURE, signature, sizeof signature,
	    sodium_base64_VARIANT_ORIGINAL);
	return 0;
}
