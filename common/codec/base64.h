/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64.h - bytes as text and back (RFC 4648, section 4), where neither is a secret.
 *
 * For secrets there is libsodium, whose time tells nothing of the bytes: six times as much.
 */
#pragma once

#include <stddef.h>

/* Letters for so many bytes, and the zero byte behind them. */
size_t base64_room(size_t bytes);
/* Into that room; how many letters. */
size_t base64_write(char *to, const void *data, size_t size);

/* Bytes that so many letters stand for, at most. */
size_t base64_most(size_t letters);
/* -1: not base64, or not as it is written: with padding, no bits beside the bytes', nothing else.
 */
int base64_read(void *to, size_t *size, const char *text, size_t letters);
