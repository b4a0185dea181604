/* SPDX-License-Identifier: Apache-2.0 */
/* dialect.h - which delimiter a text uses. */
#pragma once

#include <stddef.h>

/* The one of comma, semicolon, tab and pipe that splits the lines of this text, or the start of
 * one, most evenly; comma if none does. */
char dialect_detect(const char *text, size_t size);
/* Is the first line Excel's `sep=;`, which names the delimiter and is no row? Its bytes without the
 * end of the line, and *delimiter; 0: it is not. */
size_t dialect_declared(const char *text, size_t size, char *delimiter);
