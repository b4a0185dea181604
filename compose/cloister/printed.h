/* SPDX-License-Identifier: Apache-2.0 */
/* printed.h - the settings that a daemon would start with, as it prints them itself. */
#pragma once

#include <stddef.h>

/* What the daemon prints for the flag --print-given or --print-settings, from malloc; NULL: it
 * refuses its settings, as it will say when it starts. */
char *printed_by(const char *daemon, const char *flag);
/* The value of the line "  name: value" in a text of lines, and its length in *size; NULL: there is
 * none. The text keeps it. */
const char *printed_value(const char *text, const char *name, size_t name_size, size_t *size);
