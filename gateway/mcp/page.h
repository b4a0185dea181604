/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - lists in pages, with cursors that only this server can make (utilities/pagination). */
#pragma once

#include "gateway/mcp/method.h"

/* The answer {member: a page of all, "nextCursor": ...}.  Takes all, an array whose order never
 * changes.  A cursor that was made for another list or another principal: -32602. */
json_t *page_answer(const struct request *, const char *member, json_t *all);
