/* SPDX-License-Identifier: Apache-2.0 */
/* tools.h - the offered tools of schema.def, and their description in each revision. */
#pragma once

#include "gateway/mcp/revision.h"

#include "common/table/schema.h"

#include <stdio.h>

/* Sets the offered tools: names joined by commas, e.g. "core,monitor".  Call it once, first. */
int tools_choose(const char *toolsets, struct err *);
/* The message of an offered tool, or MSG_none. */
enum msg_id tools_find(const char *name);
/* The first tool with the hint, offered or not; at least one exists. */
enum msg_id tools_with(unsigned hint);
/* The offered tools in the order of the table: a new reference to an array that is built once. */
json_t *tools_list(const struct revision *);
/* The table of all tools as Markdown, for README.md. */
void tools_describe(FILE *);
