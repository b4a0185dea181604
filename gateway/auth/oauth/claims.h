/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claims.h - what an issuer says of whoever sent a token, as an identity.
 *
 * For access tokens as of RFC 9068, and those of issuers that came before it.
 */
#pragma once

#include "common/credential/identity.h"

#include "common/base/err.h"

#include <jansson.h>

/* What the operator configured. */
struct claims_rules {
	const char *issuer;          /* iss, to the last byte */
	const char *resource;        /* must be in aud (RFC 8707) */
	const char *namespace_claim; /* whose text is the name space; "": there is none */
	int64_t leeway_s;            /* how far clocks may differ */
};

/*
 * The identity of claims that the issuer signed, as of now_s; -1 with unauthenticated.
 *
 * The principal is "oauth:<iss>#<sub>", in which the first # ends the issuer, since that has none
 * (RFC 8414, section 2); one that would be too long, or a sub that is not visible ASCII, stands as
 * "oauth:sha256:<hash of the same>".  So two people are never one.
 */
int claims_read(const json_t *claims, const struct claims_rules *, int64_t now_s, struct identity *,
    struct err *);
