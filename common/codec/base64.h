/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64.h - base64 (RFC 4648, section 4) for data that is not secret.
 *
 * For secrets use libsodium, which runs in constant time and is six times slower.
 */
#pragma once

#include <stddef.h>

/* Buffer size for the encoding of that many bytes, with the zero byte. */
size_t base64_room(size_t bytes);
/* Encodes into such a buffer; returns the number of characters. */
size_t base64_write(char *to, const void *data, size_t size);

/* Maximum number of bytes that so many characters decode to. */
size_t base64_most(size_t letters);
/* -1: not canonical base64, which has padding, zero unused bits and no other characters. */
int base64_read(void *to, size_t *size, const char *text, size_t letters);
