/* SPDX-License-Identifier: Apache-2.0 */
/* secrets.h - the secrets that a run names: from the vault, and out of its reply. */
#pragma once

#include "common/base/owner.h"
#include "executor/redact/known.h"

/* Asks the vault; as bus_ask().  The texts of the request are borrowed. */
uint64_t secrets_ask(const struct owner *, struct vault_reveal *request,
    void (*done)(void *self, void *reply, const struct err *), void *self, struct err *);
/* Takes the values out of the vault's reply; the first must be those of the names. Of the others, a
 * note names each that cannot be set, which is left out. */
int secrets_take(const struct texts *names, struct vault_values *reply, struct vault_values *to,
    struct texts *notes, struct err *);
/* Notes why none of the others is set, unless the caller can have none. */
int secrets_lack(const struct err *why, struct texts *notes, struct err *);
/* Removes the artifacts whose names contain a secret; a note says how many.
 * Redacts the other notes. */
int secrets_hide_names(const struct known *, struct execution *reply, struct err *);
