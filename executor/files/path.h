/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - conversion between the kernel's file names and the form that clients and daemons see.
 *
 * The real name may be any bytes.  The encoded form is UTF-8 and safe to show: bytes that are not
 * UTF-8, control and bidirectional-override characters, and '%' itself are written as %XX.
 */
#pragma once

#include "executor/files/files.h"

#include <stddef.h>

/* Encodes size real bytes; allocated with malloc, NULL with ENOMEM. */
char *path_encode(const void *bytes, size_t size);
/* Decodes a relative path to real bytes, zero-terminated, allocated with malloc.  NULL with
 * path_not_allowed for paths that path_check() refuses. */
char *path_decode(const char *field, const char *encoded, struct err *);
/* The same for the target of a link, which may be any bytes but not empty. */
char *path_decode_target(const char *field, const char *encoded, struct err *);
