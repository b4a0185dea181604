/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - what daemons advise, without the sentences that name a tool which is not offered.
 *
 * Daemons write for every toolset and do not know which of them a client has.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Sets which tools are offered; before that, all are. */
void advice_choose(bool (*is_offered)(const char *tool));
/* The text as a new JSON string; NULL: no sentence is left, or no memory. */
json_t *advice_of(const char *text);
/* Does so to the hint of the error, and to the notes, of a reply in JSON. */
void advice_fit(json_t *reply);
