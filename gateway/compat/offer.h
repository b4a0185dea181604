/* SPDX-License-Identifier: Apache-2.0 */
/* offer.h - the tools of a replaced system, with the schemas of its own arguments. */
#pragma once

#include "gateway/compat/rows.h"
#include "gateway/mcp/revision.h"

/* The tool of that name, or NULL. */
const struct rows_offer *offer_find(enum rows_system, const char *tool);
/* A new array, for tools/list. */
json_t *offer_list(enum rows_system, const struct revision *);
/* The schema of a tool's arguments. */
json_t *offer_schema(const struct rows_offer *);
/* Rounds those arguments that are numbers to doubles. */
void offer_round(const struct rows_offer *, json_t *arguments);
/* Refuses arguments that the schema does not allow, in the words of Python's jsonschema: the new
 * text, or NULL. */
char *offer_refuse(const struct rows_offer *, const json_t *arguments);
