/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - of whom a request is, and what that one may do.
 *
 * A value without pointers: it may be copied, kept with a session or a task, and compared.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	IDENTITY_PRINCIPAL = 129, /* bytes with the zero byte, as envelope.principal allows */
	IDENTITY_NAMESPACE = 65,
	IDENTITY_CREDENTIAL = 33,
};

/* Who says so. */
enum identity_source {
	IDENTITY_LOCAL, /* the kernel: whoever started this process */
	IDENTITY_TOKEN, /* the operator's file of tokens */
	IDENTITY_OAUTH, /* the issuer's signature */
};

struct identity {
	enum identity_source source;
	char principal[IDENTITY_PRINCIPAL]; /* "local:1000", "token:ci", "oauth:<iss>#<sub>" */
	char namespace[IDENTITY_NAMESPACE]; /* "": none, which is a name space of its own, too */
	unsigned scopes;                    /* bits of scope.h */
	int64_t expires_s;                  /* seconds since 1970; 0: never */
	/* For auth_valid().  Of a token: which; the first half of its hash, no secret.  Of an
	 * issuer's: which of its sets of keys it was checked with. */
	char credential[IDENTITY_CREDENTIAL];
};

/* Whoever started the gateway: every scope, no end. */
void identity_local(struct identity *, unsigned uid);
/* The same principal in the same name space: only then is what one has the other's. */
bool identity_same(const struct identity *, const struct identity *);
