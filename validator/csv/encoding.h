/* SPDX-License-Identifier: Apache-2.0 */
/* encoding.h - which encoding bytes are in, and the same as UTF-8. */
#pragma once

#include "common/base/blob.h"
#include "common/base/err.h"

#include <stdbool.h>

enum {
	ENCODING_CONVERTED =
	    10 << 20, /* bytes of a text that is not UTF-8; as csv_base64's bound */
};

struct encoded {
	const char *name;
	bool guessed;
	struct blob text; /* UTF-8 without byte order mark: a part of the bytes, or of made */
	struct blob made; /* the caller clears it */
};

/*
 * Finds the encoding of bytes, which are only read, and their text: by the byte order mark; else
 * UTF-8, if they are; else UTF-16, if every other byte of the start is zero; else what uchardet
 * reads from them; else windows-1252.  guessed: one of the last two.  wanted: the name that the
 * caller gave, which decides; or NULL.  invalid_argument: zero bytes, bytes that are not of this
 * encoding, or an unknown name; limit_exceeded: too many bytes to convert.
 */
int encoding_read(const struct blob *bytes, const char *wanted, struct encoded *, struct err *);
