/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.h - shows output as a terminal does that redraws lines, as progress bars ask it to: of each
 * line only the last state (ECMA-48: CR, CUU, CPL, CHA).
 */
#pragma once

#include "common/base/blob.h"

/*
 * Returns the text without the states that were drawn over; their number is in *redrawn.  data is
 * NULL if little would be saved, or without memory: the text is then to be shown as it is.  The
 * caller frees the blob.  A line end of CR and LF is none, and no color or other sequence is
 * changed.  A line can be drawn again as long as it is one of the last 64.
 */
struct blob fold_redrawn(const char *text, size_t size, size_t *redrawn);
