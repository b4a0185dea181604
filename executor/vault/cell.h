/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell.h - bytes sealed with XChaCha20-Poly1305 under a random nonce, which comes first.
 *
 * `of` are the bytes that the seal is for, for example a name: a cell does not open for others.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

/* Fails only without memory. The caller owns *cell. */
int cell_seal(const uint8_t *key, const struct blob *of, const void *data, size_t size,
    struct blob *cell, struct err *);
/* -1: it was not sealed with this key for these bytes. The caller owns *data, and calls
 * cell_wipe() on it. */
int cell_open(const uint8_t *key, const struct blob *of, const struct blob *cell, struct blob *data,
    struct err *);
/* Overwrites and frees. */
void cell_wipe(struct blob *data);
