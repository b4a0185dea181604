/* SPDX-License-Identifier: Apache-2.0 */
/* secrets.h - the secrets that a run names: from the vault, and out of its reply. */
#pragma once

#include "executor/redact/known.h"
#include "executor/run/plan.h"

/* Asks the vault; as bus_ask(). */
uint64_t secrets_ask(const struct owner *, const char *execution_id, const char *session_id,
    const struct plan *, void (*done)(void *self, void *reply, const struct err *), void *self,
    struct err *);
/* Takes the values out of the vault's reply; they must be those that were asked for. */
int secrets_take(
    const struct texts *names, struct vault_values *reply, struct vault_values *to, struct err *);
/* Removes the artifacts whose names contain a secret; a note says how many. */
int secrets_hide_names(const struct redact *, struct execution *reply, struct err *);
