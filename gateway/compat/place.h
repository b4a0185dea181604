/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - a place in a JSON object, as compat.def writes it: "field.field". */
#pragma once

#include <jansson.h>

/* The value there, borrowed; NULL: none.  "": the value itself. */
json_t *place_get(const json_t *, const char *place);
/* Takes the value; makes the objects on the way.  0, or -1: an array or a scalar is in the way. */
int place_set(json_t *, const char *place, json_t *value);
