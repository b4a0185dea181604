/* SPDX-License-Identifier: Apache-2.0 */
/*
 * challenge.h - what a client is told that was not let in, and where it can go instead.
 *
 * WWW-Authenticate as of RFC 6750, section 3, with the parameters that MCP and RFC 9728 add; and
 * the metadata of a protected resource (RFC 9728, section 2).
 */
#pragma once

#include "gateway/auth/auth.h"

/* Checks both URLs and makes the document; before anything else here.  issuer "": there is none. */
int challenge_open(const char *issuer, const char *resource, struct err *);
void challenge_close(void);
