/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.h - auditd's own Ed25519 key, with which it signs how far its log goes
 * (common/crypto/checkpoint.h).
 *
 * The seed is made at the first start, base64 in the file audit.key (0600); the public key stands
 * beside it in audit.pub, as checkpoint_key_text() writes it.
 */
#pragma once

#include "common/crypto/checkpoint.h"

#include <stdbool.h>

/* The file of the public key, in the folder of the log. */
#define KEY_PUBLIC "audit.pub"

/* Before the jail: makes the key or loads it, and reads back what was made. */
int key_open(int state, struct err *);
void key_close(void);
const uint8_t *key_public(void);
/* The signed text of a log that ends there; valid until the next call. */
const char *key_sign(uint64_t number, const uint8_t seal[HASH_BYTES]);
/* Did this process sign that text, lately? */
bool key_signed(const char *text);

/* For the flag --public-key: prints it; the exit status. */
int key_print(int argc, char **argv);
