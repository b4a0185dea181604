/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accepted.h - access tokens whose signature was checked lately, by their SHA-256.
 *
 * To check a signature takes longer than all else that a small request needs.  The table is of a
 * fixed size and only a shortcut: what is not in it is checked again, what has expired is not in
 * it, and it is emptied whenever the issuer's keys are read anew.
 */
#pragma once

#include "common/credential/identity.h"

#include <stddef.h>

/* Whose the token is, or NULL. */
const struct identity *accepted_find(const char *token, size_t size, int64_t now_s);
void accepted_add(const char *token, size_t size, const struct identity *);
void accepted_clear(void);
