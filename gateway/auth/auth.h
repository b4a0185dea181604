/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auth.h - of whom an HTTP request is: static bearer tokens, and access tokens of an OAuth issuer.
 *
 * The gateway is an OAuth 2.1 resource server (MCP 2026-07-28, basic/authorization; RFC 6750, 8707,
 * 9068, 9728): it issues nothing, and passes no token on.  What it must know lies in one folder,
 * which it reads again when a file there changed; connections stay.
 *
 * Use, per HTTP request:
 *   if (auth_check(header, address, &who, &e) < 0)
 *           answer challenge_status(&e), with challenge_text() as WWW-Authenticate where that is
 * not ""; later, where methods_scopes() names more than who.scopes has: answer 403 with
 * challenge_text(&e, lacking), e of auth_require(). A stream that stays open asks auth_valid() from
 * time to time, once a minute say.
 */
#pragma once

#include "common/credential/identity.h"
#include "common/credential/scope.h"

#include "common/base/err.h"

#include <stddef.h>

enum {
	AUTH_HEADER_MAX = 8192, /* bytes of an Authorization header; longer is refused unread */
};

/* Before the jail, with the settings: opens the folder, reads what is there, and asks
 * daemon_allow() for it.  Fails where nobody could ever come in: no folder, no issuer, not
 * anonymous. */
int auth_open(struct err *);
/* Wipes and frees what was read. */
void auth_close(void);

/* Requests without credentials are served as identity_local(): the setting anonymous, which the
 * transport must refuse on an address that is not loopback. */
bool auth_anonymous(void);

/*
 * authorization: the header's value, or NULL where there is none; given twice is for the caller to
 * refuse (400).  address: of the peer, without a port, as text; it is counted there what fails, and
 * after too much of that every answer is rate_limited with retry_ms for a while, before anything is
 * looked at.  0, or -1 with unauthenticated, invalid_argument, rate_limited or unavailable.  The
 * token is never logged nor in *e.
 */
int auth_check(const char *authorization, const char *address, struct identity *, struct err *);
/* Is a credential that was good before still so?  It may have expired, or have been removed. */
bool auth_valid(const struct identity *);
/* denied, naming the scopes that are missing; 0 where all needed ones are there. */
int auth_require(const struct identity *, unsigned needed, struct err *);
/* Tells the log and auditd of that. */
void auth_denied(const struct identity *, const char *address, const struct err *);
