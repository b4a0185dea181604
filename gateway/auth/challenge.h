/* SPDX-License-Identifier: Apache-2.0 */
/*
 * challenge.h - the reply to an unauthenticated or denied client, and where it can get a token.
 *
 * WWW-Authenticate follows RFC 6750, section 3, with the parameters of MCP and RFC 9728.  The
 * metadata of the protected resource follows RFC 9728, section 2.
 */
#pragma once

#include "common/base/err.h"

enum {
	CHALLENGE_TEXT = 1024,
};

/* Checks both URLs and makes the document.  Call it before the other functions here.  issuer "":
 * none. */
int challenge_open(const char *issuer, const char *resource, struct err *);
void challenge_close(void);

/* 400, 401, 403, 429 or 503 for an error of auth_check() or auth_require(). */
int challenge_status(const struct err *);
/* The value of WWW-Authenticate for that status; "" if it needs none.  needed: every scope that
 * the request needs, for 403; 0 otherwise. */
void challenge_text(const struct err *, unsigned needed, char text[CHALLENGE_TEXT]);
/* The document at /.well-known/oauth-protected-resource, and below it at the path of the
 * resource (RFC 9728, section 3.1).  It is served without credentials.  NULL without an issuer:
 * reply 404. */
const char *challenge_document(void);
/* Its second path, e.g. "/.well-known/oauth-protected-resource/mcp"; NULL without an issuer. */
const char *challenge_path(void);
