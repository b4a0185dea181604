/* SPDX-License-Identifier: Apache-2.0 */
/* media_type.h - is a text from a box or a file helper the name of a media type? */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* type/subtype in the letters of RFC 6838, safe to use in a header or a signed statement.
 * Parameters are not accepted. */
bool media_type_valid(const char *text, size_t size);
