/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accepted.h - a cache of access tokens whose signature was checked recently, by their SHA-256.
 *
 * Checking a signature takes longer than everything else that a small request needs.  The cache
 * has a fixed size and is only a shortcut: a token that it lacks is checked again, an expired
 * token is never found, and reading the issuer's keys again empties it.
 */
#pragma once

#include "common/credential/identity.h"

#include <stddef.h>

/* The token's identity, or NULL. */
const struct identity *accepted_find(const char *token, size_t size, int64_t now_s);
void accepted_add(const char *token, size_t size, const struct identity *);
void accepted_clear(void);
