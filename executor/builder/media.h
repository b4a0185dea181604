/* SPDX-License-Identifier: Apache-2.0 */
/*
 * media.h - what kind of file some bytes are, by libmagic.
 *
 * The library has a long history of faults in its parsers, so it looks at hostile bytes in a
 * steward only: a process without a file, a socket or a right but those of the workspace that the
 * bytes are from.  The builder loads the database, before it hears of anybody, and never asks.
 */
#pragma once

#include <stddef.h>

enum {
	MEDIA_BYTES = 8 << 10, /* of a file that are looked at */
	MEDIA_TYPE = 128,      /* a type, with its zero byte */
};

/* Without a database on this host, no type is known; that is logged. */
void media_open(void);
/* "image/png"; "" where it is not known.  Valid until the next call. */
const char *media_type(const void *data, size_t size);
