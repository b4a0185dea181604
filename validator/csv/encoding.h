/* SPDX-License-Identifier: Apache-2.0 */
/* encoding.h - which encoding bytes are in, and the same as UTF-8. */
#pragma once

#include "common/base/blob.h"
#include "common/base/err.h"

#include <stdbool.h>

/*
 * Replaces *bytes by UTF-8 without byte order mark, and returns the name of the encoding that they
 * were in: by the byte order mark; else UTF-8, if they are; else UTF-16, if every other byte of the
 * start is zero; else what uchardet reads from them; else windows-1252.  *guessed: one of the last
 * two.  wanted: the name that the caller gave, which decides; or NULL.  NULL with *e: zero bytes,
 * bytes that are not of this encoding, or an unknown name.
 */
const char *encoding_convert(struct blob *bytes, const char *wanted, bool *guessed, struct err *);
