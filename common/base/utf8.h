/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - is it UTF-8 (RFC 3629: no overlong form, no surrogate, nothing over U+10FFFF)? */
#pragma once

#include "common/base/blob.h"

#include <stdbool.h>
#include <stddef.h>

bool utf8_valid(const void *data, size_t size);
/* A copy in which U+FFFD stands for each byte that is not part of UTF-8, and for each zero byte;
 * with a zero byte behind it, not counted.  Never over three times as long; data NULL on ENOMEM. */
struct blob utf8_mend(const void *data, size_t size);
/* The same, of no more than `most` bytes: where that is too much, *cut, the gap stands for the
 * middle.  Of what is left out at most as much is looked at as is returned. */
struct blob utf8_fit(const void *data, size_t size, size_t most, const char *gap, bool *cut);
/* Is there a byte within a character, rather than a first one? */
bool utf8_inside(const void *data, size_t at, size_t size);
/* Bytes of it without a last character, or a part of one, that is longer than a byte: what was cut
 * anywhere ends well then. */
size_t utf8_whole(const void *data, size_t size);
/* Bytes of the character at the front that may stand in a line which somebody reads; 0 where there
 * is none, or one that a terminal obeys (C0 and C1 controls), ends the line at, or that turns
 * around the order of those beside it. */
size_t utf8_shown(const void *data, size_t size);
/* In place, for one line of a log or an error: a byte that is not UTF-8, and a character that is
 * not to be shown, becomes '?'. */
void utf8_tame(char *text);
