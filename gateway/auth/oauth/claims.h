/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claims.h - derives an identity from an issuer's claims about a token's owner.
 *
 * Reads access tokens as in RFC 9068, and those of older issuers.
 */
#pragma once

#include "common/credential/identity.h"

#include "common/base/err.h"

#include <jansson.h>

/* What the operator configured. */
struct claims_rules {
	const char *issuer;          /* iss, compared byte by byte */
	const char *resource;        /* must be in aud (RFC 8707) */
	const char *namespace_claim; /* the claim with the namespace; "": none */
	int64_t leeway_s;            /* maximum difference between clocks */
};

/*
 * The identity of claims that the issuer signed, at now_s; -1 with unauthenticated.
 *
 * The principal is "oauth:<iss>#<sub>".  The first # ends the issuer, which contains none (RFC
 * 8414, section 2).  If that is too long, or sub is not visible ASCII, the principal is
 * "oauth:sha256:<hash of it>".  So two users never share a principal.
 */
int claims_read(const json_t *claims, const struct claims_rules *, int64_t now_s, struct identity *,
    struct err *);
