/* SPDX-License-Identifier: Apache-2.0 */
/* charset.h - the encodings of charsets.def: found by name or by their bytes, and converted. */
#pragma once

#include "common/base/blob.h"
#include "common/base/err.h"

struct charset;

/* Opens the converters, whose modules are files: call it once before the jail.  One that this
 * machine lacks is then unknown. */
void charset_open(void);
const char *charset_name(const struct charset *);
/* Letters of either case are the same; NULL: unknown. */
const struct charset *charset_find(const char *name);
/* What uchardet reads from bytes that are no Unicode; NULL: nothing, or windows-1252. */
const struct charset *charset_guess(const struct blob *);
/* Writes UTF-8 to *out, which has room for three times the bytes.  invalid_argument: bytes that are
 * not of this encoding, or a zero character. */
int charset_convert(
    const struct charset *, const struct blob *from, struct blob *out, struct err *);
