/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.h - a description of the REST API that tools can read (OpenAPI Specification 3.1). */
#pragma once

#include <jansson.h>

#include <stdbool.h>

struct openapi_route {
	const char *method, *path, *doc; /* "{name}" in the path is a segment */
	json_t *body;                    /* schema of the body, which is taken; NULL: none */
	bool open, tenant, limit;        /* as OPEN, TENANT and LIMIT of rest.def */
};

/* A document without routes. */
json_t *openapi_begin(void);
void openapi_add(json_t *document, const struct openapi_route *);
