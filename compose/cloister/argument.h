/* SPDX-License-Identifier: Apache-2.0 */
/* argument.h - arguments of a tool, from text: each gets the type that schema.def gives it. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <jansson.h>
#include <stdio.h>

/*
 * Sets the argument in `arguments`; "limits.max_ram_mb" is a member of the object "limits". A tool
 * that is not in schema.def (MSG_none) takes JSON or else a text. -1: no such argument (*e names
 * the nearest), or text is not of its type.
 */
int argument_set(
    json_t *arguments, enum msg_id tool, const char *path, const char *text, struct err *e);
/* The same for bytes that may include zero bytes, for an argument that is a text. */
int argument_set_text(json_t *arguments, const char *name, const struct blob *text, struct err *e);
/* The same for an argument that is bytes: their base64, of which no other copy stays. */
void argument_set_bytes(json_t *arguments, const char *name, const struct blob *bytes);
/* Prints what a tool does, and its arguments with their types. */
void argument_help(enum msg_id tool, FILE *to);
/* Adds the text to a list of texts. */
int argument_add(json_t *arguments, const char *name, const char *text, struct err *e);
