/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.h - replies and errors of daemons as results of tools/call.
 *
 * On success everything stands in structuredContent and, as JSON, in the text; on failure
 * everything a model needs stands in the text, since clients differ in which of the two they show.
 */
#pragma once

#include "gateway/era.h"

#include "common/schema.h"

/* New results; NULL only when memory ran out.  *reply is messages[tool].reply. */
json_t *result_of_reply(const struct era *, enum msg_id tool, const void *reply);
json_t *result_of_error(const struct era *, const struct err *);
