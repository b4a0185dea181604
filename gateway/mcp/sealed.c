/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sealed.c - secrets with a purpose and an owner; texts come from clients and are not trusted.
 */
#include "gateway/mcp/sealed.h"

#include "gateway/mcp/secretbox.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/crypto/seal.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

enum {
	FILE_BYTES = 1024,
};

static struct {
	bool made;
	unsigned char key[SECRETBOX_KEY];
} self;

int
sealed_open(const char *path, struct err *e)
{
	struct blob text;

	if (sodium_init() < 0)
		return err_set(e, ERR_internal, "libsodium: initialization failed");
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

#define ABOUT(purpose, who) \
	((const char *const[]){ purpose, (who)->owner.principal, (who)->owner.namespace, NULL })

char *
sealed_make(const char *purpose, const struct account *who, const json_t *value, int64_t life_s)
{
	must(self.made);
	return secretbox_make(self.key, ABOUT(purpose, who), value, life_s);
}

static int
open_seal(const char *purpose, const struct account *who, const char *text, struct secret *s,
    struct err *e)
{
	bool expired;

	must(self.made);
	if (secretbox_open(self.key, ABOUT(purpose, who), text, s, &expired) == 0)
		return 0;
	return err_set(e, ERR_invalid_argument, "%s",
	    expired ? "expired; start again without it"
		    : "not given out by this server for this request");
}

json_t *
sealed_read(const char *purpose, const struct account *who, const char *text,
    struct sealed_use *use, struct err *e)
{
	struct secret s;

	if (open_seal(purpose, who, text, &s, e) < 0)
		return NULL;
	if (use != NULL) {
		sodium_bin2hex(use->id, sizeof use->id, s.nonce, SEALED_ID / 2);
		use->made_ms = s.made_ms;
		use->until_ms = s.until_ms;
	}
	return s.value;
}
