/* SPDX-License-Identifier: Apache-2.0 */
/* prompts.h - prompts that a user may choose, and their arguments for completion. */
#pragma once

#include "gateway/mcp/provider.h"

#include <stdbool.h>

extern const struct provider prompts_provider;

/* Whether there is a prompt of that name with that argument. */
bool prompts_have(const char *prompt, const char *argument);
