/* SPDX-License-Identifier: Apache-2.0 */
/* zap.h - maps CURVE keys to daemons. */
#pragma once

#include "common/bus/keys.h"

#include <stdbool.h>

/* Call before the first TCP endpoint is bound. *keys must remain valid until zap_close(). */
int zap_open(void *context, enum peer self, const struct keys *, struct err *);
void zap_close(void);
/* Answers pending requests; true: there may be more. */
bool zap_pump(void);
