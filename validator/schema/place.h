/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - where a value is within the checked one. */
#pragma once

#include <jansson.h>

/* A value within the checked one; the parts of a path, from the inside to the outside. */
struct place {
	const struct place *up; /* NULL: the whole value */
	const char *key;        /* NULL: an item */
	size_t index;           /* of the item, or the size of the key */
	const json_t *of;       /* the object that has the key */
};
