/* SPDX-License-Identifier: Apache-2.0 */
/* dialect.h - which delimiter a text uses. */
#pragma once

#include <stddef.h>

/* The one of comma, semicolon, tab and pipe that splits the lines of this text, or the start of
 * one, most evenly; comma if none does. */
char dialect_detect(const char *text, size_t size);
