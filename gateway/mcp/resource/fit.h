/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h - results no longer than clients show them to their models.
 *
 * A client that is handed more cuts it at the end, where an error and the hint at what to do stand,
 * or puts it into a file that the model must go and read.  So the middle of the longest texts (PAGE
 * and ANY fields, wherever in the reply) goes here, and what stands for it says where the whole can
 * be read.  So does the end of long lists, where the reply has a field that can say so.  Small
 * texts and everything else stay as they are.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

/*
 * Shortens *value, a reply of that kind as JSON, to about limit bytes; 0: it may be any length.
 * Links to what was left out, a new array of contents; NULL: no memory.
 */
json_t *fit_value(const struct account *, enum msg_id reply, json_t *value, size_t limit);
