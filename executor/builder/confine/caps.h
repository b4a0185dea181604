/* SPDX-License-Identifier: Apache-2.0 */
/* caps.h - capabilities of the calling process. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* These and no others, also in the bounding set. */
int caps_keep(const int *caps, size_t n, struct err *);
/* What it has stays over an exec, whoever the user is; -1 with errno. */
int caps_pass_on(void);
/* None, nor any by an exec, for good. */
int caps_drop_all(struct err *);
/* Read back: not one in any set. */
bool caps_none(void);
