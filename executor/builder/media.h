/* SPDX-License-Identifier: Apache-2.0 */
/*
 * media.h - media types by content, with libmagic.
 *
 * The library has a long history of faults in its parsers, so it reads hostile bytes only in a file
 * helper: a process that has access to the workspace of these bytes and to nothing else.  The
 * builder only loads the database, before it takes orders.
 */
#pragma once

#include <stddef.h>

enum {
	MEDIA_BYTES = 8 << 10, /* bytes of a file that are read */
	MEDIA_TYPE = 128,      /* size of a type, with its zero byte */
};

/* If the host has no database, this is logged and no type is known. */
void media_open(void);
/* "image/png"; "" if unknown.  Valid until the next call. */
const char *media_type(const void *data, size_t size);
