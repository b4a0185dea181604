/* SPDX-License-Identifier: Apache-2.0 */
/* checked_json.h - for tests: a check of JSON, and what it found. */
#pragma once

#include "validator/schema/validate.h"

struct checked {
	struct schema_report report;
	struct err error;
	int status;
	char found[1024]; /* "/a type, /b required" */
};

/* Texts of a schema and of data; fills in *checked. */
void check_json(struct checked *, const char *schema, const char *data, int draft);
/* output: a word of schema_output. */
void check_json_for(struct checked *, const char *schema, const char *data, int draft, int output);
void checked_clear(struct checked *);
