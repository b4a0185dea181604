/* SPDX-License-Identifier: Apache-2.0 */
/* links.c - sealing and opening; what comes back in a link is of anybody. */
#include "gateway/mcp/links.h"

#include "gateway/options.h"

#include "common/base/auto.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BASE64 sodium_base64_VARIANT_URLSAFE_NO_PADDING

enum {
	NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
	TAG = crypto_aead_xchacha20poly1305_ietf_ABYTES,
	KEY = crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
	PLAIN = 256, /* "<expires>\n<principal>\n<namespace>" */
	SEALED = NONCE + PLAIN + TAG,
	KEY_FILE_MAX = 4096,
};

static unsigned char key[KEY];

/* ---- the key ---- */

static int
read_key(struct err *e)
{
	unsigned char file[KEY_FILE_MAX];
	FILE *from = fopen(options.link_key, "re");
	size_t size = from == NULL ? 0 : fread(file, 1, sizeof file, from);

	if (from == NULL)
		return err_sys(e, "link_key: open %s", options.link_key);
	fclose(from);
	if (size < KEY)
		return err_set(e, ERR_invalid_argument,
		    "link_key: %s holds %zu bytes; %d or more are needed", options.link_key, size,
		    KEY);
	crypto_generichash(
	    key, sizeof key, file, size, (const unsigned char *)"cloister links", 14);
	sodium_memzero(file, sizeof file);
	return 0;
}

int
links_open(struct err *e)
{
	if (sodium_init() < 0)
		return err_set(e, ERR_internal, "libsodium does not start");
	if (*options.link_key != '\0')
		return read_key(e);
	randombytes_buf(key, sizeof key);
	return 0;
}

/* ---- a link ---- */

/* What it is for, so that it opens nothing else; of malloc. */
static char *
purpose(const char *session, const char *path)
{
	char *text;

	return asprintf(&text, "%s/%s", session, path) < 0 ? NULL : text;
}

static char *
seal(const struct account *account, const char *purpose_, char *to, size_t room)
{
	unsigned char sealed[SEALED];
	unsigned long long size;
	char plain[PLAIN];
	int n = snprintf(plain, sizeof plain, "%lld\n%s\n%s",
	    (long long)time(NULL) + (long long)options.link_ttl_s, account->principal,
	    account->namespace == NULL ? "" : account->namespace);

	if (n < 0 || n >= (int)sizeof plain)
		return NULL;
	randombytes_buf(sealed, NONCE);
	crypto_aead_xchacha20poly1305_ietf_encrypt(sealed + NONCE, &size, (unsigned char *)plain,
	    (size_t)n, (const unsigned char *)purpose_, strlen(purpose_), NULL, sealed, key);
	return sodium_bin2base64(to, room, sealed, NONCE + (size_t)size, BASE64);
}

char *
links_escape(const char *text, const char *also)
{
	static const char digits[] = "0123456789ABCDEF";
	char *escaped = malloc(strlen(text) * 3 + 1), *to = escaped;

	for (; escaped != NULL && *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    strchr(also, c) != NULL) {
			*to++ = (char)c;
			continue;
		}
		*to++ = '%';
		*to++ = digits[c >> 4];
		*to++ = digits[c & 15];
	}
	if (escaped != NULL)
		*to = '\0';
	return escaped;
}

char *
links_make(const char *base, const struct account *account, const char *session, const char *path)
{
	char sealed[sodium_base64_ENCODED_LEN(SEALED, BASE64)];
	auto_free char *for_what = purpose(session, path);
	auto_free char *escaped = links_escape(path, "-._~/");
	char *link;

	if (for_what == NULL || escaped == NULL ||
	    seal(account, for_what, sealed, sizeof sealed) == NULL)
		return NULL;
	if (asprintf(&link, "%s/files/%s/%s?t=%s", base, session, escaped, sealed) < 0)
		return NULL;
	return link;
}

static int
read_owner(char *plain, struct link_owner *owner, struct err *e)
{
	char *principal = strchr(plain, '\n');
	char *namespace = principal == NULL ? NULL : strchr(principal + 1, '\n');

	if (namespace == NULL)
		return err_set(e, ERR_denied, "this link is not valid");
	*principal++ = *namespace ++ = '\0';
	if (strtoll(plain, NULL, 10) < (long long)time(NULL))
		return err_set(e, ERR_denied, "this link has expired; ask for the file again");
	snprintf(owner->principal, sizeof owner->principal, "%s", principal);
	snprintf(owner->namespace, sizeof owner->namespace, "%s", namespace);
	return 0;
}

int
links_check(const char *session, const char *path, const char *text, struct link_owner *owner,
    struct err *e)
{
	unsigned char sealed[SEALED], plain[PLAIN];
	unsigned long long opened;
	size_t size;
	auto_free char *for_what = purpose(session, path);

	if (for_what == NULL)
		return err_sys(e, "look at a link");
	if (sodium_base642bin(
		sealed, sizeof sealed, text, strlen(text), NULL, &size, NULL, BASE64) < 0 ||
	    size < NONCE + TAG || size - NONCE - TAG >= PLAIN ||
	    crypto_aead_xchacha20poly1305_ietf_decrypt(plain, &opened, NULL, sealed + NONCE,
		size - NONCE, (unsigned char *)for_what, strlen(for_what), sealed, key) < 0)
		return err_set(e, ERR_denied, "this link is not valid");
	plain[opened] = '\0';
	return read_owner((char *)plain, owner, e);
}

/* ---- in replies ---- */

/* Where a file can be had is for us alone to say. */
static void
fill_artifact(const struct origin *origin, const char *session, struct artifact *a)
{
	const struct transport *by = origin->client->by;

	free(take_ptr(a->download_url));
	if (session != NULL && by->link != NULL)
		a->download_url = by->link(origin->client, origin->exchange, session, a->filename);
}

static void
fill_field(const struct origin *origin, const char *session, const struct field *f, void *slot)
{
	struct list *list = slot;

	if (f->of != MSG_artifact)
		return;
	if (f->kind == KIND_ITEM && item_of(slot) != NULL)
		fill_artifact(origin, session, item_of(slot));
	for (size_t i = 0; f->kind == KIND_LIST && i < list->count; i++)
		fill_artifact(origin, session, (struct artifact *)list->items + i);
}

void
links_fill(const struct origin *origin, enum msg_id id, void *message)
{
	const struct message *m = &messages[id];
	const char *session = NULL;

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (f->kind == KIND_TEXT && strcmp(f->name, "session_id") == 0)
			session = *(char **)((char *)message + f->offset);
	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		fill_field(origin, session, f, (char *)message + f->offset);
}
