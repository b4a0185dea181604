/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_token.c - tokens, claims, sets of keys, files of tokens and addresses, as strangers and
 * issuers may write them.
 *
 * Input: which of five (1 byte), and what is left is its text.  Claims that are taken make a
 * principal that a stranger cannot choose freely; lines that are taken are found again by nobody
 * but the holder of their token; an address that is taken is of this machine or encrypted, and
 * names one host.
 */
#include "common/credential/scope.h"
#include "common/credential/tokens.h"
#include "common/credential/url.h"
#include "gateway/auth/oauth/claims.h"
#include "gateway/auth/oauth/jws.h"

#include "common/base/auto.h"
#include "common/base/log.h"

#include <ctype.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A word for each key that is left out would be all that is seen. */
void
log_write(enum log_level level, const char *text, const struct log_value *values)
{
	(void)level, (void)text, (void)values;
}

/* Of RFC 7515, appendix A.3: its private half is public, which is of no use to whoever guesses
 * bytes. */
static const char set[] = "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"k\","
			  "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
			  "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}";
static struct jwks keys;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct err e;

	(void)argc, (void)argv;
	must(jws_load(&e) == 0);
	must(jwks_read(&(struct blob){ (void *)(uintptr_t)set, sizeof set - 1 }, &keys, &e) == 0);
	return 0;
}

static void
check_refused(const struct err *e)
{
	must(e->code != ERR_none && e->text[0] != '\0');
}

static void
try_token(const char *text, size_t size)
{
	struct err e = { 0 };
	json_t *claims = jws_open(text, size, &keys, &e);

	must(claims == NULL || json_is_object(claims));
	if (claims == NULL)
		check_refused(&e);
	json_decref(claims);
}

static bool
visible(const char *text)
{
	while (isgraph((unsigned char)*text))
		text++;
	return *text == '\0';
}

static void
try_claims(const char *text, size_t size)
{
	const struct claims_rules rules = { "https://i", "https://r", "ns", 30 };
	json_t *claims = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	struct identity who;
	struct err e = { 0 };

	if (claims == NULL)
		return;
	if (claims_read(claims, &rules, 1000, &who, &e) == 0) {
		must(strncmp(who.owner.principal, "oauth:https://i#", 16) == 0 ||
		     strncmp(who.owner.principal, "oauth:sha256:", 13) == 0);
		must(visible(who.owner.principal) && visible(who.owner.namespace));
		must(who.expires_s > 1000 && (who.scopes & ~(unsigned)SCOPES_ALL) == 0);
	} else {
		check_refused(&e);
	}
	json_decref(claims);
}

static void
try_set(const char *text, size_t size)
{
	struct jwks fresh;
	struct err e = { 0 };

	if (jwks_read(&(struct blob){ (void *)(uintptr_t)text, size }, &fresh, &e) < 0)
		check_refused(&e);
	else
		must(fresh.count > 0);
	for (size_t i = 0; i < fresh.count; i++) {
		const struct jwk *key = &fresh.items[i];

		must(key->algorithms != 0 && json_object_get(key->json, "d") == NULL &&
		     json_object_get(key->json, "k") == NULL);
	}
	jwks_clear(&fresh);
}

static void
try_file(const char *text, size_t size)
{
	struct tokens tokens;
	struct err e = { 0 };

	if (tokens_read(&(struct blob){ (void *)(uintptr_t)text, size }, &tokens, &e) < 0)
		check_refused(&e);
	for (size_t i = 0; i < tokens.count; i++) {
		const struct token *token = &tokens.items[i];

		must(visible(token->identity.owner.principal) &&
		     visible(token->identity.owner.namespace));
		must(strncmp(token->identity.owner.principal, "oauth:", 6) != 0);
		must(tokens_by_name(&tokens, token->name) == token);
	}
	must(tokens_find(&tokens, text, size) == NULL);
	tokens_clear(&tokens);
}

static void
try_url(const char *text, size_t size)
{
	auto_free char *url = strndup(text, size);
	const char *path, *host;
	struct err e = { 0 };

	path = url_path("url", url, &e);
	if (path == NULL) {
		check_refused(&e);
		return;
	}
	host = strstr(url, "://") + 3;
	must(path > host && (*path == '/' || *path == '\0'));
	must(memchr(host, '@', (size_t)(path - host)) == NULL);
	must(strncmp(url, "https://", 8) == 0 || strncmp(url, "http://localhost", 16) == 0 ||
	     strncmp(url, "http://127.0.0.1", 16) == 0 || strncmp(url, "http://[::1]", 12) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const tries[])(
	    const char *, size_t) = { try_token, try_claims, try_set, try_file, try_url };

	if (size < 1)
		return -1;
	/* A copy, so that the sanitizer knows where it ends. */
	auto_free char *text = malloc(size > 1 ? size - 1 : 1);

	memcpy(text, data + 1, size - 1);
	tries[data[0] % COUNT(tries)](text, size - 1);
	return 0;
}
