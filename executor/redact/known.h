/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.h - the secrets that the programs of a run or of a session have got, and their redaction.
 *
 * A session's programs may keep a secret in a variable or a file, so its output is redacted until
 * it ends, also in runs that name no secret.
 */
#pragma once

#include "executor/redact/redact.h"

/* Zeroed: none. */
struct known {
	struct blob *items;
	size_t count;
	struct redact *redact; /* NULL: there is nothing to redact */
};

/* Copies what is new among the values.  After an error nothing has changed.  No output may be in
 * the middle of being redacted. */
int known_add(struct known *, const struct vault_values *, struct err *);
/* Redacts each text, such as names of files. */
void known_hide(const struct known *, struct texts *);
/* Overwrites and frees. */
void known_clear(struct known *);
/* The same for values that the vault sent. */
void known_wipe(struct vault_values *);
