/* SPDX-License-Identifier: Apache-2.0 */
/* pair.h - a certificate chain and its private key, as GnuTLS needs them. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <gnutls/abstract.h>

struct pair {
	gnutls_pcert_st *chain; /* the server's own certificate first */
	unsigned count;
	gnutls_privkey_t key;
	int64_t until_s; /* when the first of the chain expires */
	struct pair *next;
	int64_t replaced_ms; /* next and this are private to tls.c */
};

/* Both are PEM.  NULL: *e says which of the two is invalid, or that they do not match. */
struct pair *pair_read(const struct blob *certificate, const struct blob *key, struct err *);
/* Wipes the key. */
void pair_free(struct pair *);
