/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - lists in pages, by cursors that only this server can make (utilities/pagination). */
#pragma once

#include "gateway/mcp/method.h"

/* The answer {member: a page of all, "nextCursor": ...}; takes all, an array in an order that does
 * not change.  A cursor that was given out for no such list of that principal: -32602. */
json_t *page_answer(const struct request *, const char *member, json_t *all);
