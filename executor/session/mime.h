/* SPDX-License-Identifier: Apache-2.0 */
/* mime.h - media types of files, as reported to clients. */
#pragma once

#include <stdbool.h>

/* The type by content (told, from files_type()); or the type by name, if it is more specific and
 * fits the content.  told "": by name alone.  Returns a static text, or told. */
const char *mime_of(const char *filename, const char *told);
/* Is it a picture that clients can show: PNG, JPEG, GIF, WebP? */
bool mime_is_picture(const char *type);
/* Is it readable text: tables, markup, JSON? */
bool mime_is_text(const char *type);
