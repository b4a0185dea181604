/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h - shortens results to the length that clients show to their models.
 *
 * A client cuts a longer result at its end, where the error and its hint are, or writes it to a
 * file that the model must open and read.  So the gateway removes the middle of the longest texts
 * (PAGE and ANY fields, anywhere in the reply) and puts a note in its place that says where the
 * whole text can be read.  It also removes the end of long lists, if the reply has a field for
 * such a note.  Of output with progress bars the last state of each line stays (fold.h).  Small
 * texts and everything else stay unchanged.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

/*
 * Shortens *value, a reply of that kind as JSON, to about limit bytes; 0: no limit.  Returns links
 * to what was left out, a new array of contents; NULL: no memory.
 */
json_t *fit_value(const struct account *, enum msg_id reply, json_t *value, size_t limit);
