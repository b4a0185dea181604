/* SPDX-License-Identifier: Apache-2.0 */
/* tools.h - which tools of the table are offered, and their description in each era. */
#pragma once

#include "gateway/mcp/era.h"

#include "common/table/schema.h"

#include <stdio.h>

/* Names joined by commas, as in "core,monitor"; once, before all else. */
int tools_choose(const char *toolsets, struct err *);
/* The message of an offered tool, or MSG_none. */
enum msg_id tools_find(const char *name);
/* The first tool that has the hint, whether it is offered or not; there is one. */
enum msg_id tools_with(unsigned hint);
/* The offered tools in the order of the table, an array; a new reference to one that is made once.
 */
json_t *tools_list(const struct era *);
/* The table of all tools as Markdown, for README.md. */
void tools_describe(FILE *);
