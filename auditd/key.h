/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.h - auditd's own Ed25519 key, which signs the state of its log (common/crypto/checkpoint.h).
 *
 * The first start creates the seed, base64 in the file audit.key (0600).  The public key is beside
 * it in audit.pub, in the form of checkpoint_key_text().
 */
#pragma once

#include "common/crypto/checkpoint.h"
#include "common/journal/chain.h"

#include <stdbool.h>

/* File of the public key, in the directory of the log. */
#define KEY_PUBLIC "audit.pub"

/* Before the jail: loads the key, or creates it and reads it back.  -1 if there is a log, but no
 * key, unless accept_new: nobody could verify the checkpoints that were signed before. */
int key_open(int state, bool accept_new, struct err *);
void key_close(void);
const uint8_t *key_public(void);
/* Signs a log that ends at that record.  The text is valid until the next call. */
const char *key_sign(uint64_t number, const uint8_t seal[HASH_BYTES]);
/* Signs an end that goes into the log itself, behind that end; it may not be durable yet. */
void key_state(const struct chain_end *, char text[CHECKPOINT_TEXT]);
/* Did this process sign that text recently? */
bool key_signed(const char *text);

/* The flag --public-key: prints the key and returns the exit status. */
int key_print(int argc, char **argv);
