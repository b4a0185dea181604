/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - names of files as clients and other daemons see them, and as the kernel does.
 *
 * The real name is any bytes.  In the encoded form, which is UTF-8 and safe to show, these stand as
 * %XX: bytes that are not UTF-8, control and bidirectional-override characters, and '%' itself.
 */
#pragma once

#include "executor/files/files.h"

#include <stddef.h>

/* Size real bytes, encoded; of malloc, NULL with ENOMEM. */
char *path_encode(const void *bytes, size_t size);
/* An encoded relative path as real bytes, zero-terminated, of malloc.  NULL with path_not_allowed
 * for what path_check() refuses. */
char *path_decode(const char *field, const char *encoded, struct err *);
/* The same for what a link points to, which may be any bytes but an empty text. */
char *path_decode_target(const char *field, const char *encoded, struct err *);
