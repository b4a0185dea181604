/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sign.h - the executor's signing key for artifacts (common/crypto/seal.h).
 *
 * The key is made once, in <state>/executor/artifact.key, or belongs to the operator (the setting
 * artifact_key_file).  Both files hold the base64 of the 32-byte seed of an Ed25519 key.  The
 * public key is in artifact.pub beside it.
 */
#pragma once

#include "common/crypto/seal.h"

/* In open(), outside the jail: reads the operator's key, if there is one. */
int sign_open(struct err *);
/* In start(): otherwise reads or makes the key in the state directory. */
int sign_start(struct err *);
/* The public key in base64. */
const char *sign_public_key(void);

/* Sets the artifact's time and signature.  An artifact without a digest was too large to read and
 * is not signed. */
int sign_artifact(struct artifact *, const char *execution_id, struct err *);
