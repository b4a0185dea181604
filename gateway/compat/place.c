/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - follows the names of a place; the places are of compat.def, the values anybody's. */
#include "gateway/compat/place.h"

#include <stdint.h>
#include <string.h>

json_t *
place_get(const json_t *from, const char *place)
{
	const json_t *at = from;

	while (at != NULL && place[0] != '\0') {
		size_t size = strcspn(place, ".");

		at = json_object_getn(at, place, size);
		place += size + (place[size] == '.');
	}
	return (json_t *)(uintptr_t)at;
}

int
place_set(json_t *to, const char *place, json_t *value)
{
	size_t size = strcspn(place, ".");

	if (place[size] == '\0')
		return json_object_setn_new_nocheck(to, place, size, value);
	if (json_object_getn(to, place, size) == NULL)
		json_object_setn_new_nocheck(to, place, size, json_object());

	json_t *inner = json_object_getn(to, place, size);

	if (json_is_object(inner))
		return place_set(inner, place + size + 1, value);
	json_decref(value);
	return -1;
}
