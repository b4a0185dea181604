/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - what daemons advise, without the sentences that name a tool which is not offered.
 *
 * Daemons write for every toolset and do not know which of them a client has.
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>

/* Sets which tools are offered; before that, all are. */
void advice_choose(bool (*is_offered)(const char *tool));
/* What to do about an error: what its text says behind the last semicolon if a limit was hit,
 * because only the text knows which; otherwise the remedy of its code. As advice_of(). */
json_t *advice_of_error(const struct err *);
/* The text as a new JSON string; NULL: no sentence is left, or no memory. */
json_t *advice_of(const char *text);
/* Does so to the hint of the error, and to the notes, of a reply in JSON. */
void advice_fit(json_t *reply);
