/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - `cloister events`: prints events as they happen. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Exits as call_command() does. With --follow it runs until it is interrupted. */
int events_follow(int argc, char **argv);

/* Prints the events of a page, one a line, and what was removed before them.  of_all: with their
 * principals. */
void events_print(const json_t *page, bool as_json, bool of_all);
/* The next page comes after this one.  false: this one did not advance, so nothing is left. */
bool events_advance(json_t *arguments, const json_t *page);
