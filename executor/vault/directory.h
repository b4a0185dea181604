/* SPDX-License-Identifier: Apache-2.0 */
/* directory.h - secrets in files that something else mounts, such as a Secret of Kubernetes:
 * DIRECTORY/NAMESPACE/NAME, or DIRECTORY/NAME for the namespace "default". */
#pragma once

#include "executor/vault/name.h"

#include "common/table/schema.h"

/* In open(): the setting directory; the jail then permits to read it. */
int directory_open(struct err *);
/* 1 and the value, for cell_wipe(); 0: there is none. A file is read each time, because what
 * mounts it may replace it. */
int directory_reveal(const struct name *, struct blob *value, struct err *);
/* Calls it with the name of each file of the namespace, in no order. */
int directory_each(const char *namespace, int (*see)(void *self, const char *name, struct err *),
    void *self, struct err *);
void directory_close(void);
