/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auth.h - authentication of HTTP requests: static bearer tokens, and access tokens of an OAuth
 * issuer.
 *
 * The gateway is an OAuth 2.1 resource server (MCP 2026-07-28, basic/authorization; RFC 6750,
 * 8707, 9068, 9728).  It issues no tokens and forwards none.  Its tokens and keys are files in one
 * directory.  A changed file is read again; connections stay open.
 *
 * Use, for each HTTP request:
 *   if (auth_check(header, address, &who, &e) < 0)
 *           reply with challenge_status(&e) and, unless it is "", challenge_text() as
 *           WWW-Authenticate
 * Then, if methods_scopes() names more scopes than who.scopes has, reply with 403 and
 * challenge_text(&e, lacking), where auth_require() has set e.  A stream that stays open calls
 * auth_valid() every few seconds (CHECK_MS in transport/http/web.c).
 */
#pragma once

#include "common/credential/identity.h"
#include "common/credential/scope.h"

#include "common/base/err.h"

#include <stddef.h>

enum {
	AUTH_HEADER_MAX = 8192, /* bytes of the header's value; a longer one is refused unread */
};

/* Call before entering the jail, with the settings.  Opens the directory, reads its files and
 * calls daemon_allow() for it.  Fails if no request could ever be accepted: no directory, no
 * issuer, not anonymous. */
int auth_open(struct err *);
/* Wipes and frees the credentials. */
void auth_close(void);

/* Whether requests without credentials are served as identity_local() (the setting anonymous).
 * The transport must refuse this on an address that is not loopback. */
bool auth_anonymous(void);

/*
 * authorization: the header's value, or NULL if there is none.  The caller refuses a repeated
 * header (400).  address: of the peer, as text, without a port.  Failures are counted by address;
 * after too many, every unknown token from it is answered with rate_limited and retry_ms, without
 * a check of its signature.  Returns 0, or -1 with unauthenticated, invalid_argument, rate_limited
 * or unavailable.  The token is never logged and never in *e.
 */
int auth_check(const char *authorization, const char *address, struct identity *, struct err *);
/* Whether a credential that was valid still is.  It may have expired or been removed. */
bool auth_valid(const struct identity *);
/* Fails with denied and the names of the missing scopes. */
int auth_require(const struct identity *, unsigned needed, struct err *);
/* Records the denial in the log and with auditd. */
void auth_denied(const struct identity *, const char *address, const struct err *);
