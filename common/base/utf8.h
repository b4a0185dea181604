/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - is it UTF-8 (RFC 3629: no overlong form, no surrogate, nothing over U+10FFFF)? */
#pragma once

#include "common/base/blob.h"

#include <stdbool.h>
#include <stddef.h>

bool utf8_valid(const void *data, size_t size);
/* Returns a copy with U+FFFD in place of each byte that is not valid UTF-8, followed by a zero byte
 * that is not counted. At most three times as long; data is NULL on ENOMEM. Zero bytes stay. */
struct blob utf8_mend(const void *data, size_t size);
/* The same, limited to `most` bytes. If the text is longer, *cut is set and `gap` replaces the
 * middle. Reads at most as many of the omitted bytes as it returns. */
struct blob utf8_fit(const void *data, size_t size, size_t most, const char *gap, bool *cut);
/* Is the byte at `at` a continuation byte of a character? */
bool utf8_inside(const void *data, size_t at, size_t size);
/* Size without a final multi-byte character, whole or partial: text that was cut at any byte then
 * ends at a character boundary. */
size_t utf8_whole(const void *data, size_t size);
/* Size of the first character if it is safe to display in one line. 0 if there is none, or if it is
 * a control (C0, C1), ends the line, or changes the text direction. */
size_t utf8_shown(const void *data, size_t size);
/* For one line of a log or an error, in place: replaces each invalid byte and each character that
 * is not safe to display by '?'. */
void utf8_tame(char *text);
