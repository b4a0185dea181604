/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the secrets that clients add: in memory, each value sealed, and in a sealed file unless
 * they are kept in memory only.
 *
 * A change is durable before a function returns (written, synced, renamed), or has not happened.
 */
#pragma once

#include "executor/vault/name.h"

#include "common/table/schema.h"

/* In start(): reads vault.sealed and seals it with the newest key. state -1: memory only. */
int store_open(int state, struct err *);
bool store_exists(int state);
/* The record of that key, or NULL; valid until the next change. */
const struct vault_record *store_find(const struct name *);
/* Stores a value, or replaces it. limit_exceeded. */
int store_put(const struct name *, const struct blob *value, struct err *);
/* not_found. */
int store_delete(const struct name *, struct err *);
/* The value, for cell_wipe(). */
int store_reveal(const struct vault_record *, struct blob *value, struct err *);
/* Calls it for each secret of the owner, in no order. */
int store_each(const struct owner *,
    int (*see)(void *self, const struct vault_record *, struct err *), void *self, struct err *);
/* Makes a new key and seals everything with it. */
int store_rekey(struct err *);
void store_close(void);
