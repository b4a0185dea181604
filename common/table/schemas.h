/* SPDX-License-Identifier: Apache-2.0 */
/* schemas.h - JSON Schemas that tools may name: config, user, dataset. */
#pragma once

struct schema {
	const char *name, *title, *text;
};

/* Ends with a NULL name. */
extern const struct schema schemas[];
/* NULL: there is no schema of that name. */
const struct schema *schemas_find(const char *name);
