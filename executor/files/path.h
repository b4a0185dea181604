/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - conversion between the kernel's file names and the form that clients and daemons see.
 *
 * The real name may be any bytes.  The encoded form is UTF-8 and safe to show: bytes that are not
 * UTF-8, control and bidirectional-override characters, and '%' itself are written as %XX.
 */
#pragma once

#include "common/base/err.h"

#include <stddef.h>

enum {
	FILES_MAX_PATH = 4096, /* bytes of the real path */
	FILES_MAX_NAME = 255,
};

/* Encodes size real bytes; allocated with malloc, NULL with ENOMEM. */
char *path_encode(const void *bytes, size_t size);
/* Decodes a relative path to real bytes, zero-terminated, allocated with malloc.  NULL with
 * path_not_allowed for paths that path_check() refuses. */
char *path_decode(const char *field, const char *encoded, struct err *);
/* The same for the target of a link, which may be any bytes but not empty. */
char *path_decode_target(const char *field, const char *encoded, struct err *);

/*
 * Converts a client's path ("data/a.csv", "/workspace/a.csv", "/mnt/data/a.csv",
 * "/sandbox/workspace/a.csv") to the relative encoded path, allocated with malloc.
 * path_not_allowed: empty, "..", ".", empty parts, any other absolute path, control characters, too
 * long; the text names the field and the fault.
 */
char *path_check(const char *field, const char *path, struct err *);
