/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - for every message of the table, examples that follow from the table alone.
 *
 * FULL has every field, with bounds reached where that is cheap; LEAST only what is needed.
 */
#pragma once

#include "common/codec/wire.h"

enum sample { SAMPLE_FULL, SAMPLE_LEAST, SAMPLE_COUNT };

extern const char *const sample_names[SAMPLE_COUNT];

/* A message of malloc, filled in; and its end. */
void *sample_new(enum msg_id, enum sample);
void *sample_empty(enum msg_id);
void sample_free(enum msg_id, void *msg);
/* A sample packed; ends the process if it cannot be. */
struct packed sample_packed(enum msg_id, enum sample);
/* Of *p: the body, and copies of the frames, for decoders to take. */
struct packed sample_copy(const struct packed *p);
/* Are they the same, byte by byte? */
bool sample_same(const struct packed *, const struct packed *);
/* Not a byte of it is set: what decoders promise after an error. */
bool sample_is_zero(enum msg_id, const void *msg);
