/* SPDX-License-Identifier: Apache-2.0 */
/* vault.h - the handlers of the vault's messages. */
#pragma once

#include "common/bus/bus.h"

int vault_on_vault_add(struct call *, void *request, struct err *);
int vault_on_vault_list(struct call *, void *request, struct err *);
int vault_on_vault_delete(struct call *, void *request, struct err *);
int vault_on_vault_rekey(struct call *, void *request, struct err *);
int vault_on_vault_reveal(struct call *, void *request, struct err *);
