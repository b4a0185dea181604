/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - the certificates of authorities that programs in boxes trust: the host's bundle, and
 * those of the operator's file.
 */
#pragma once

#include "common/base/blob.h"
#include "common/base/err.h"

/* Where a box has them.  Libraries find the first one by themselves or by environment.def. */
#define TRUST_BUNDLE "/etc/ssl/certs/ca-certificates.crt"
#define TRUST_ADDED  "/etc/ssl/certs/added.crt"

/* PEM texts; the caller owns them, see trust_clear(). */
struct trust {
	struct blob all;   /* for OpenSSL and GnuTLS */
	struct blob added; /* what Node's own list lacks: the site's and the operator's */
};

/* Reads them from the host, before the box's root replaces it.  ca_file: the operator's, or NULL.
 * A host without a bundle is not an error; ca_file must be readable. */
int trust_load(const char *ca_file, struct trust *, struct err *);
void trust_clear(struct trust *);
