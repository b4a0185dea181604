/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h - the parts of a call that the gateway itself reads: its destination and its size. */
#pragma once

#include "common/table/schema.h"

#include <jansson.h>

/* A text field of a message, borrowed; NULL: the message has no such field, or it is not set. */
const char *arguments_text(enum msg_id, const char *message, const char *name);
/* The address of a text field in the message; NULL: there is no such field. */
const char **arguments_slot(enum msg_id, void *message, const char *name);
/* The daemon that serves the call. */
enum peer arguments_server(enum msg_id tool, const void *request);
/* The executor instance that an id names: "<prefix><instance>_<32 digits>"; false: it names
 * none. */
bool arguments_instance(const char *prefix, const char *id, char *instance, size_t size);
/* The W3C Trace Context, version 00, of the request's metadata; "" for anything else, as the
 * specification requires. */
void arguments_trace(const json_t *meta, char trace[56]);
/* Bytes of the file that a call requests, for a tool whose `length` argument limits them.  A
 * `length` that is not a number is refused when the request is decoded.  0: it requests none. */
size_t arguments_file_bytes(enum msg_id tool, const json_t *arguments);
/* Total bytes of the texts and blobs of a message. */
size_t arguments_bytes(enum msg_id, const void *message);
