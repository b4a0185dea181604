/* SPDX-License-Identifier: Apache-2.0 */
/* zap.h - decides which daemon a CURVE key stands for. */
#pragma once

#include "common/bus/keys.h"

#include <stdbool.h>

/* Before the first TCP endpoint is bound.  *keys must live as long. */
int zap_open(void *context, enum peer self, const struct keys *, struct err *);
void zap_close(void);
/* Answers what is asked; true: there may be more. */
bool zap_pump(void);
