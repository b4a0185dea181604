/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.h - the keys that seal the vault, in locked memory that no core dump contains.
 *
 * The first key seals; older ones only open. They come from the setting key_file, the systemd
 * credential vault.key, or a file that the vault makes in its state directory.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	KEY_BYTES = 32,
	KEY_MAX = 4, /* keys in a file */
};

/* In open(): reads a key that the operator gave. */
int key_open(struct err *);
/* In start(): otherwise the vault's own; makes one unless a sealed file exists. state -1: a key of
 * this process only. */
int key_start(int state, bool sealed_exists, struct err *);
/* The key of that number; NULL: there are fewer. */
const uint8_t *key_at(size_t i);
/* A random key of this process, for what it only keeps in memory. */
const uint8_t *key_of_memory(void);
/* Puts a new key before the others and stores them. denied: the operator gave the key. -1: the old
 * one seals as before. */
int key_renew(struct err *);
/* Seals with the key before that one again. Both stay in the file, because the disk may have
 * either state. */
void key_undo(void);
/* Drops all but the first, if they are the vault's own. */
int key_forget_old(struct err *);
void key_close(void);
