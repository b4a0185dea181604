/* SPDX-License-Identifier: Apache-2.0 */
/* hint.h - what to change, where that can be guessed. */
#pragma once

#include "validator/schema/facts.h"

#include <stdbool.h>

/* false: there is nothing to say beyond what was expected. */
bool hint_write(const struct problem_facts *, char *text, size_t size);
