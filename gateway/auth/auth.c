/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auth.c - from an Authorization header to an identity.
 *
 * Trusts the operator's directory and, through its keys, the issuer.  Trusts nothing in a request.
 * Cheap checks come first, so that failed attempts never keep out a known token, even from the
 * same address.  A signature is checked only for an address that has not failed too often.
 */
#include "gateway/auth/auth.h"

#include "common/credential/directory.h"
#include "common/credential/tokens.h"
#include "gateway/auth/challenge.h"
#include "gateway/auth/denial.h"
#include "gateway/auth/oauth/accepted.h"
#include "gateway/auth/oauth/claims.h"
#include "gateway/auth/oauth/jws.h"
#include "gateway/auth/throttle.h"
#include "gateway/auth/used.h"
#include "gateway/options.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/timestamp.h"
#include "common/daemon/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 1000 }; /* how soon a changed file is noticed */

static int read_tokens(const struct blob *, struct err *);
static int read_keys(const struct blob *, struct err *);

static struct directory_file files[] = {
	{ .name = AUTH_TOKENS, .limit = TOKENS_FILE_MAX, .read = read_tokens },
	{ .name = AUTH_KEYS, .limit = JWKS_FILE, .read = read_keys },
};

static struct {
	struct directory directory;
	int64_t looked_ms;
	unsigned uid; /* of the user that started the gateway */
	struct tokens tokens;
	struct jwks keys;
	uint64_t keys_number; /* incremented when a key is removed */
} auth = { .directory.fd = -1 };

/* ---- the directory ---- */

static int
read_tokens(const struct blob *file, struct err *e)
{
	struct tokens fresh = { 0 };

	if (file != NULL && tokens_read(file, &fresh, e) < 0)
		return -1;
	tokens_clear(&auth.tokens);
	auth.tokens = fresh;
	if (file != NULL)
		log_info("tokens read", LOG_N("tokens", fresh.count));
	return 0;
}

static bool
has_key(const struct jwks *keys, const struct jwk *key)
{
	for (size_t i = 0; i < keys->count; i++)
		if (json_equal(keys->items[i].json, key->json))
			return true;
	return false;
}

static bool
has_all(const struct jwks *fresh, const struct jwks *keys)
{
	for (size_t i = 0; i < keys->count; i++)
		if (!has_key(fresh, &keys->items[i]))
			return false;
	return true;
}

static int
read_keys(const struct blob *file, struct err *e)
{
	struct jwks fresh = { 0 };

	if (options.issuer[0] == '\0' || (file == NULL && auth.keys.count == 0))
		return 0;
	if (file != NULL && jwks_read(file, &fresh, e) < 0)
		return -1;
	auth.keys_number += !has_all(&fresh, &auth.keys);
	jwks_clear(&auth.keys);
	accepted_clear();
	auth.keys = fresh;
	log_info("issuer's keys read", LOG_N("keys", fresh.count));
	return 0;
}

static void
look(void)
{
	int64_t now_ms = loop_now_ms();
	struct err e;

	if (auth.directory.fd < 0 || now_ms - auth.looked_ms < LOOK_MS)
		return;
	auth.looked_ms = now_ms;
	if (directory_look(&auth.directory, files, COUNT(files), &e) < 0)
		log_error("credentials unchanged", LOG_E(&e));
}

/* ---- start and stop ---- */

static int
open_directory(struct err *e)
{
	if (directory_open(options.credentials, daemon_state_root(), &auth.directory, e) < 0)
		return -1;
	daemon_allow(auth.directory.fd, JAIL_READ);
	if (directory_look(&auth.directory, files, COUNT(files), e) < 0)
		return err_add(e, "credentials");
	auth.looked_ms = loop_now_ms();
	return 0;
}

static const struct identity *
of_credential(const char *credential)
{
	for (size_t i = 0; i < auth.tokens.count; i++)
		if (strcmp(auth.tokens.items[i].identity.credential, credential) == 0)
			return &auth.tokens.items[i].identity;
	return NULL;
}

static bool
is_known(const char *credential)
{
	return of_credential(credential) != NULL;
}

int
auth_open(struct err *e)
{
	auth.uid = (unsigned)getuid();
	if (options.issuer[0] != '\0' && jws_load(e) < 0)
		return -1;
	if (challenge_open(options.issuer, options.resource, e) < 0 || open_directory(e) < 0)
		return -1;
	used_open(is_known);
	if (auth.tokens.count == 0 && options.issuer[0] == '\0' && !options.anonymous)
		log_warn("all requests will be refused: no tokens, no issuer, and anonymous is off",
		    LOG_S("remedy", "cloister token add NAME"));
	if (options.issuer[0] != '\0' && auth.keys.count == 0)
		log_warn("the issuer's keys have not been fetched",
		    LOG_S("remedy", "cloister issuer fetch"));
	return 0;
}

void
auth_close(void)
{
	used_close();
	tokens_clear(&auth.tokens);
	jwks_clear(&auth.keys);
	accepted_clear();
	challenge_close();
	if (auth.directory.fd >= 0)
		close(take_fd(&auth.directory.fd));
}

bool
auth_anonymous(void)
{
	return options.anonymous;
}

/* ---- the Authorization header ---- */

struct bearer {
	const char *text;
	size_t size;
};

static int
missing(struct err *e)
{
	err_set(e, ERR_unauthenticated, "send a token: Authorization: Bearer TOKEN");
	e->sys = ENOKEY;
	return -1;
}

static int
reject(struct err *e, int sys, const char *why)
{
	err_set(e, ERR_unauthenticated, "%s", why);
	e->sys = sys;
	return -1;
}

/* b64token of RFC 6750, section 2.1.  Any other scheme counts as no credentials. */
static int
read_bearer(const char *header, struct bearer *bearer, struct err *e)
{
	static const char scheme[] = "Bearer", plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
							 "abcdefghijklmnopqrstuvwxyz"
							 "0123456789-._~+/";
	size_t size;

	if (strnlen(header, AUTH_HEADER_MAX + 1) > AUTH_HEADER_MAX)
		return err_set(e, ERR_invalid_argument, "Authorization: over the limit of %d bytes",
		    AUTH_HEADER_MAX);
	if (strncasecmp(header, scheme, sizeof scheme - 1) != 0 ||
	    (header[sizeof scheme - 1] != ' ' && header[sizeof scheme - 1] != '\0'))
		return missing(e);
	header += sizeof scheme - 1;
	header += strspn(header, " ");
	size = strspn(header, plain);
	*bearer = (struct bearer){ header, size + strspn(header + size, "=") };
	if (size == 0 || header[bearer->size] != '\0')
		return err_set(e, ERR_invalid_argument,
		    "Authorization: malformed token after Bearer (RFC 6750, section 2.1)");
	return 0;
}

/* ---- tokens ---- */

static int64_t
now_s(void)
{
	return timestamp_now().tv_sec;
}

static bool
expired(const struct identity *who)
{
	return who->expires_s != 0 && now_s() >= who->expires_s;
}

/* Looks for a known token.  1: found, 0: unknown, -1: known but expired. */
static int
recall(const struct bearer *bearer, struct identity *who, struct err *e)
{
	const struct token *token = tokens_find(&auth.tokens, bearer->text, bearer->size);
	const struct identity *seen =
	    token != NULL ? &token->identity : accepted_find(bearer->text, bearer->size, now_s());

	if (seen == NULL)
		return 0;
	if (expired(seen))
		return reject(e, EKEYEXPIRED, "the token has expired");
	*who = *seen;
	used_note(who, now_s());
	return 1;
}

static int
check_signed(const struct bearer *bearer, struct identity *who, struct err *e)
{
	const struct claims_rules rules = {
		.issuer = options.issuer,
		.resource = options.resource,
		.namespace_claim = options.namespace_claim,
		.leeway_s = (int64_t)options.leeway_s,
	};

	/* A token without dots is not signed, whatever its issuer. */
	if (options.issuer[0] == '\0' || memchr(bearer->text, '.', bearer->size) == NULL)
		return reject(e, EKEYREJECTED, "unknown token");
	if (auth.keys.count == 0)
		return err_set(e, ERR_unavailable, "the issuer's keys have not been fetched yet");

	json_t *claims = jws_open(bearer->text, bearer->size, &auth.keys, e);
	int failed = claims == NULL ? -1 : claims_read(claims, &rules, now_s(), who, e);

	json_decref(claims);
	snprintf(who->credential, sizeof who->credential, "%" PRIu64, auth.keys_number);
	if (failed == 0)
		accepted_add(bearer->text, bearer->size, who);
	return failed;
}

static int
check(const char *header, const char *address, struct identity *who, struct err *e)
{
	struct bearer bearer = { header, 0 };
	int known, wait_ms;

	if (read_bearer(header, &bearer, e) < 0)
		return -1;
	if ((known = recall(&bearer, who, e)) != 0)
		return known < 0 ? -1 : 0;
	wait_ms = throttle_wait(address, loop_now_ms());
	if (wait_ms > 0) {
		err_set(e, ERR_rate_limited,
		    "too many failed attempts from this address; wait %d ms", wait_ms);
		e->retry_ms = wait_ms;
		return -1;
	}
	return check_signed(&bearer, who, e);
}

int
auth_check(const char *authorization, const char *address, struct identity *who, struct err *e)
{
	*e = (struct err){ 0 };
	*who = (struct identity){ 0 };
	look();
	if (authorization == NULL && options.anonymous) {
		identity_local(who, auth.uid);
		return 0;
	}
	if (authorization == NULL)
		return missing(e);
	if (check(authorization, address, who, e) == 0)
		return 0;
	*who = (struct identity){ 0 };
	if (e->code == ERR_rate_limited || e->code == ERR_unavailable || e->sys == ENOKEY)
		return -1;
	throttle_add(address, loop_now_ms());
	denial_note(NULL, address, e);
	return -1;
}

/* ---- after authentication ---- */

bool
auth_valid(const struct identity *who)
{
	const struct identity *now;

	look();
	if (expired(who))
		return false;
	if (who->source == IDENTITY_LOCAL)
		return true;
	if (who->source == IDENTITY_OAUTH) /* its key may be removed; reconnecting checks it */
		return strtoull(who->credential, NULL, 10) == auth.keys_number;
	now = of_credential(who->credential);
	return now != NULL && owner_equal(&now->owner, &who->owner) && now->scopes == who->scopes &&
	       !expired(now);
}

void
auth_denied(const struct identity *who, const char *address, const struct err *e)
{
	denial_note(who, address, e);
}

int
auth_require(const struct identity *who, unsigned needed, struct err *e)
{
	char names[SCOPES_TEXT];

	*e = (struct err){ 0 };
	if ((needed & ~who->scopes) == 0)
		return 0;
	scope_text(needed & ~who->scopes, names);
	return err_set(e, ERR_denied, "the credentials lack %s", names);
}
