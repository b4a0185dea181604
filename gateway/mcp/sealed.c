/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sealed.c - secrets about a purpose and an owner; texts come from clients and are not trusted.
 */
#include "gateway/mcp/sealed.h"

#include "gateway/mcp/secretbox.h"
#include "gateway/mcp/spent.h"

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
	int64_t since_ms; /* when that was: nothing is known of what was used before */
	unsigned char key[SECRETBOX_KEY];
} self;

int
sealed_open(const char *path, struct err *e)
{
	struct blob text;

	if (sodium_init() < 0)
		return err_set(e, ERR_internal, "libsodium does not start");
	self.made = true;
	self.since_ms = secretbox_now_ms();
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
	((const char *const[]){ \
	    purpose, (who)->principal, (who)->namespace != NULL ? (who)->namespace : "", NULL })

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
	    expired ? "it has expired; begin anew"
		    : "it was not given out by this server for this request");
}

json_t *
sealed_read(const char *purpose, const struct account *who, const char *text, struct err *e)
{
	struct secret s;

	return open_seal(purpose, who, text, &s, e) < 0 ? NULL : s.value;
}

json_t *
sealed_use(const char *purpose, const struct account *who, const char *text, struct err *e)
{
	struct secret s;

	if (open_seal(purpose, who, text, &s, e) < 0)
		return NULL;

	const struct spending use = { who->principal, who->namespace, s.nonce, s.until_ms,
		secretbox_now_ms() };

	if (s.made_ms >= self.since_ms && spent_note(&use, e) == 0)
		return s.value;
	if (s.made_ms < self.since_ms)
		err_set(e, ERR_invalid_argument,
		    "it is from before this server's start, and may have been used; begin anew");
	json_decref(s.value);
	return NULL;
}
