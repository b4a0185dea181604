/* SPDX-License-Identifier: Apache-2.0 */
/* prompts.h - prompts that a user may choose, and their arguments for completion. */
#pragma once

#include <stdbool.h>

/* Whether there is a prompt of that name with that argument. */
bool prompts_have(const char *prompt, const char *argument);
