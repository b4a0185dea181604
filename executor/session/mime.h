/* SPDX-License-Identifier: Apache-2.0 */
/* mime.h - what kind of file it is, as a client is told. */
#pragma once

#include <stdbool.h>

/* By what its bytes told (files_type()), and by its name where that says more and fits; told "": by
 * the name alone.  Static, or told. */
const char *mime_of(const char *filename, const char *told);
/* One that clients can show: PNG, JPEG, GIF, WebP. */
bool mime_is_picture(const char *type);
/* One that is text to its reader: tables, markup, JSON. */
bool mime_is_text(const char *type);
