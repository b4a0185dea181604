/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h - what the gateway itself reads of a call: where it goes, and how large it is. */
#pragma once

#include "common/table/schema.h"

#include <jansson.h>

/* A text field of a message, borrowed; NULL: it has no such field, or nothing was given. */
const char *arguments_text(enum msg_id, const char *message, const char *name);
/* Where it is in the message; NULL: there is no such field. */
const char **arguments_slot(enum msg_id, void *message, const char *name);
/* Which executor has what that id names: "<prefix><instance>_<32 digits>"; false: none is named. */
bool arguments_instance(const char *prefix, const char *id, char *instance, size_t size);
/* W3C Trace Context, version 00, of the request's metadata; "" for anything else, as it asks. */
void arguments_trace(const json_t *meta, char trace[56]);
/* Bytes of the file that a call asks for: of a tool that says by `length` how many are wanted. What
 * is no number there is refused when the request is read.  0: it asks for none. */
size_t arguments_file_bytes(enum msg_id tool, const json_t *arguments);
/* Bytes of the texts and blobs of a message. */
size_t arguments_bytes(enum msg_id, const void *message);
