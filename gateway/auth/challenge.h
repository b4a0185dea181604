/* SPDX-License-Identifier: Apache-2.0 */
/*
 * challenge.h - what a client is told that was not let in, and where it can go instead.
 *
 * WWW-Authenticate as of RFC 6750, section 3, with the parameters that MCP and RFC 9728 add; and
 * the metadata of a protected resource (RFC 9728, section 2).
 */
#pragma once

#include "common/base/err.h"

enum {
	CHALLENGE_TEXT = 1024,
};

/* Checks both URLs and makes the document; before anything else here.  issuer "": there is none. */
int challenge_open(const char *issuer, const char *resource, struct err *);
void challenge_close(void);

/* 400, 401, 403, 429 or 503 for what auth_check() and auth_require() said. */
int challenge_status(const struct err *);
/* The value of WWW-Authenticate for that answer; "" where it has none.  needed: every scope the
 * request needs, for 403; 0 otherwise. */
void challenge_text(const struct err *, unsigned needed, char text[CHALLENGE_TEXT]);
/* The document at /.well-known/oauth-protected-resource and below it at the path of the resource
 * (RFC 9728, section 3.1), for everybody; NULL where there is no issuer: 404. */
const char *challenge_document(void);
/* The path it is served at beside the root one, as in "/.well-known/oauth-protected-resource/mcp";
 * NULL where there is no issuer. */
const char *challenge_path(void);
