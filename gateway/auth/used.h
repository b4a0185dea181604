/* SPDX-License-Identifier: Apache-2.0 */
/* used.h - notes when tokens are used, and writes it down once a minute. */
#pragma once

#include "common/credential/identity.h"

#include <stdbool.h>

/* keeps: is it the credential of a token that exists? */
void used_open(bool (*keeps)(const char *credential));
void used_note(const struct identity *, int64_t now_s);
/* Writes what is not written yet. */
void used_close(void);
