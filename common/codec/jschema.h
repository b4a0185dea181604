/* SPDX-License-Identifier: Apache-2.0 */
/* jschema.h - descriptors to JSON Schema 2020-12; JSON to messages and back. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <jansson.h>

enum {
	JSCHEMA_ANY_DEPTH = 64,     /* arrays and objects of an ANY within each other */
	JSCHEMA_ANY_NESTED = 50000, /* and in all */
};

/* What a client may send for a message, and what it gets; the caller owns the reference. */
json_t *jschema_input(enum msg_id);
json_t *jschema_output(enum msg_id);

/*
 * Reads *from into the zeroed *msg, which the caller clears (zeroed after an error).
 * null stands for an absent optional field; a real without fraction is taken as an integer;
 * BLOB is strict base64 (padding required, no other characters).  Errors name the
 * field by its path, the limit and what was given: "timeout: 7200 is over the limit of 3600".
 */
int jschema_read(enum msg_id, const json_t *from, void *msg, struct err *);

/*
 * The JSON form of *msg; NULL when memory ran out.  Absent optional fields are left out.
 * ANY holds JSON text from a hostile guest: what does not parse (depth, bounds)
 * is given as a string.
 */
json_t *jschema_write(enum msg_id, const void *msg);
