/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - the owner in whose name a request is made, and its permissions.
 *
 * A value without pointers: it may be copied, kept with a session or a task, and compared.
 */
#pragma once

#include "common/base/owner.h"

#include <stdint.h>

enum {
	IDENTITY_CREDENTIAL = 33,
};

/* The authenticator. */
enum identity_source {
	IDENTITY_LOCAL, /* the kernel: the user of this process */
	IDENTITY_TOKEN, /* the operator's file of tokens */
	IDENTITY_OAUTH, /* the issuer's signature */
};

struct identity {
	enum identity_source source;
	struct owner owner;
	unsigned scopes;   /* bits of scope.h */
	int64_t expires_s; /* seconds since 1970; 0: never */
	/* For auth_valid(). A static token: the first half of its hash, which is not secret. An
	 * issuer's token: the set of keys that verified it. */
	char credential[IDENTITY_CREDENTIAL];
};

/* The user who started the gateway: every scope, no expiry. */
void identity_local(struct identity *, unsigned uid);
