/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - secrets in the environment of the vault, as SANDBOXMCP_SECRET_NAMESPACE_NAME. */
#pragma once

#include "executor/vault/name.h"

#include "common/table/schema.h"

/* In open(): takes the values out of the environment, which has zeros in their place afterwards. */
int environment_open(struct err *);
/* 1 and the value, for cell_wipe(); 0: there is none. */
int environment_reveal(const struct name *, struct blob *value, struct err *);
/* Calls it with the name of each variable of the namespace, in no order. */
int environment_each(const char *namespace, int (*see)(void *self, const char *name, struct err *),
    void *self, struct err *);
void environment_close(void);
