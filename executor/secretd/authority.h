/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authority.h - a certificate authority that lives as long as one run (RFC 5280).
 *
 * A box trusts its certificate. Name constraints bind it to the bound names and what is below them,
 * its path length is 0, and it expires after a day. It issues one certificate for each bound name,
 * and no key leaves this process.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <gnutls/gnutls.h>

enum {
	AUTHORITY_LIFE_S = 86400,
	AUTHORITY_BEFORE_S = 3600, /* clocks of boxes are the host's, but tests set their own */
};

struct authority;

/* names: of hosts, in lower case. NULL with *e; the caller owns the result. */
struct authority *authority_new(const struct texts *names, struct err *);
/* Its certificate in PEM, as long as it exists. */
const char *authority_certificate(const struct authority *);
/* A server's key and certificate for that name. The caller calls
 * gnutls_certificate_free_credentials(). */
int authority_issue(const struct authority *, const char *name,
    gnutls_certificate_credentials_t *server, struct err *);
/* Wipes the key. NULL is permitted. */
void authority_free(struct authority *);
