/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h - the places where secrets are looked for, in the order of the setting backends. */
#pragma once

#include "executor/vault/name.h"

#include "common/table/schema.h"

/* In open(): reads the setting. */
int backend_open(struct err *);
/* In start(). */
int backend_start(int state, struct err *);
void backend_close(void);

/* Can secrets be added? denied. */
int backend_can_store(struct err *);
/* What the store calls itself: file or memory. */
const char *backend_store(void);
/* The value in the first backend that has it, for cell_wipe(). secret_not_found names it. */
int backend_reveal(const struct name *, struct blob *value, struct err *);
/* Adds what the owner may use; namespace NULL: all that are known. */
int backend_list(const struct owner *, const char *namespace, struct vault_names *, struct err *);
