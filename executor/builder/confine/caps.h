/* SPDX-License-Identifier: Apache-2.0 */
/* caps.h - capabilities of the calling process. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Keeps these capabilities and no others, also in the bounding set. */
int caps_keep(const int *caps, size_t n, struct err *);
/* Keeps the current capabilities across exec, for any user; -1 with errno. */
int caps_pass_on(void);
/* Drops all capabilities permanently.  No exec can regain any. */
int caps_drop_all(struct err *);
/* Reads the sets back.  True if all are empty. */
bool caps_none(void);
