/* SPDX-License-Identifier: Apache-2.0 */
/* prompts.h - prompts that a user may choose; for completion, which arguments they have. */
#pragma once

#include <stdbool.h>

/* Is there a prompt of that name, with that argument? */
bool prompts_have(const char *prompt, const char *argument);
