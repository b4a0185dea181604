/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.h - the secrets that the programs of a run or of a session have got, and their redaction.
 *
 * A session's programs may keep a secret in a variable or a file, so its output is redacted until
 * it ends, also in runs that name no secret.
 */
#pragma once

#include "executor/redact/redact.h"

enum { KNOWN_NAMES = 256 }; /* of schema.def */

/* Zeroed: none. */
struct known {
	struct blob *items;
	size_t count;
	struct texts
	    names; /* of them, as namespace/name, for a snapshot of files that may have them */
	struct redact *redact; /* NULL: there is nothing to redact */
};

/* Copies what is new among the values.  After an error nothing has changed.  No output may be in
 * the middle of being redacted. */
int known_add(struct known *, const struct vault_values *, struct err *);
/* Notes the name under which the vault knows a value; namespace NULL: default. */
int known_name(struct known *, const char *namespace, const char *name, struct err *);
/* Redacts each text, such as names of files. */
void known_hide(const struct known *, struct texts *);
/* Overwrites and frees. */
void known_clear(struct known *);
/* The same for values that the vault sent: all, or those after the first `count`. */
void known_wipe(struct vault_values *);
void known_shrink(struct vault_values *, size_t count);
