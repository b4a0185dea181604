/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sign.h - the executor's own key, with which it says that a run left a file
 * (common/crypto/seal.h).
 *
 * It is made once, in <state>/executor/artifact.key, or is the operator's: the setting
 * artifact_key_file.  Both hold the base64 of the 32 bytes that an Ed25519 key is made of.  The
 * public key stands beside it, in artifact.pub.
 */
#pragma once

#include "common/crypto/seal.h"

/* In open(), outside the jail: the operator's key, if there is one. */
int sign_open(struct err *);
/* In start(): otherwise the one of the state folder. */
int sign_start(struct err *);
/* base64. */
const char *sign_public_key(void);

/* Gives the artifact its time and signature.  One without a digest was too large to read and is
 * not signed. */
int sign_artifact(struct artifact *, const char *execution_id, struct err *);
