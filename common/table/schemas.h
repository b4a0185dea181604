/* SPDX-License-Identifier: Apache-2.0 */
/* schemas.h - JSON Schemas that tools may name: config, user, dataset. */
#pragma once

#include <stdbool.h>

struct schema {
	const char *name, *title, *text;
};

/* Ends with a NULL name. */
extern const struct schema schemas[];
/* Can a client register a schema of that name? Letters, digits, '_', '-' and, not first, '.', at
 * most 64: such a name is the name of a file. */
bool schemas_is_name(const char *name);
/* NULL: there is no schema of that name. */
const struct schema *schemas_find(const char *name);
