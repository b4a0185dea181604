/* SPDX-License-Identifier: Apache-2.0 */
/* jschema.h - JSON Schema 2020-12 from the tables; JSON to messages and back. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <jansson.h>

enum {
	JSCHEMA_ANY_DEPTH = 64,     /* nesting depth of arrays and objects in an ANY */
	JSCHEMA_ANY_NESTED = 50000, /* number of arrays and objects in an ANY */
};

/* The schema of the input that a client may send, and of the output that it gets. The caller owns
 * the reference. */
json_t *jschema_input(enum msg_id);
json_t *jschema_output(enum msg_id);

/*
 * Reads *from into the zeroed *msg, which the caller clears (zeroed after an error). null means an
 * absent optional field; a real without a fraction is accepted as an integer; BLOB is strict base64
 * (padding required, no other characters). Errors name the field by its path, the limit and what
 * was given: "timeout: 7200 is over the limit of 3600".
 */
int jschema_read(enum msg_id, const json_t *from, void *msg, struct err *);
/* The same for arguments that the gateway wrote: also accepts the fields that are its own. */
int jschema_read_own(enum msg_id, const json_t *from, void *msg, struct err *);

/*
 * The JSON form of *msg; NULL if memory runs out. Absent optional fields are left out. ANY contains
 * JSON text from a hostile guest; text that does not parse (depth, bounds) is written as a string.
 */
json_t *jschema_write(enum msg_id, const void *msg);
