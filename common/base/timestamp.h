/* SPDX-License-Identifier: Apache-2.0 */
/* timestamp.h - the time of day, as a number and as text (RFC 3339, in UTC). */
#pragma once

#include <stdint.h>
#include <time.h>

enum {
	TIMESTAMP_TEXT = 32,
};

struct timespec timestamp_now(void);
/* Milliseconds since 1970. */
uint64_t timestamp_ms(void);
/* "2026-01-31T12:00:00.123Z" with that many fractional digits; 0: no decimal point. */
void timestamp_text(struct timespec at, int digits, char text[TIMESTAMP_TEXT]);
