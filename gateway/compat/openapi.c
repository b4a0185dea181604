/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.c - a JSON document from rows; nothing in it comes from a request. */
#include "gateway/compat/openapi.h"

#include <ctype.h>
#include <string.h>

/* Both names of the header with the token, and the form of an error. */
json_t *
openapi_begin(void)
{
	return json_pack("{s:s, s:{s:s, s:s}, s:{}, s:[{s:[]}, {s:[]}],"
			 " s:{s:{s:{s:s, s:s, s:s}, s:{s:s, s:s}},"
			 " s:{s:{s:s, s:{s:{s:s}, s:{s:s}, s:{s:s}}, s:[s]}}}}",
	    "openapi", "3.1.0", "info", "title", "cloister", "version", CLOISTER_VERSION, "paths",
	    "security", "key", "token", "components", "securitySchemes", "key", "type", "apiKey",
	    "in", "header", "name", "X-API-Key", "token", "type", "http", "scheme", "bearer",
	    "schemas", "Error", "type", "object", "properties", "detail", "type", "string", "code",
	    "type", "string", "hint", "type", "string", "required", "detail");
}

static void
add_parameter(json_t *list, const char *in, const char *name, size_t size, const char *type)
{
	json_array_append_new(
	    list, json_pack("{s:s%, s:s, s:b, s:{s:s}}", "name", name, size, "in", in, "required",
		      strcmp(in, "path") == 0, "schema", "type", type));
}

static json_t *
parameters_of(const struct openapi_route *route)
{
	json_t *list = json_array();
	const char *open = strchr(route->path, '{');

	if (open != NULL)
		add_parameter(list, "path", open + 1, strcspn(open + 1, "}"), "string");
	if (route->tenant)
		add_parameter(list, "header", "X-Tenant-Id", strlen("X-Tenant-Id"), "string");
	if (route->limit) {
		add_parameter(list, "query", "limit", strlen("limit"), "integer");
		add_parameter(list, "query", "action", strlen("action"), "string");
	}
	return list;
}

/* As "post_execute_async". */
static json_t *
id_of(const struct openapi_route *route)
{
	char id[96];
	size_t n = 0;

	for (const char *at = route->method; *at != '\0' && n < sizeof id - 1; at++)
		id[n++] = (char)tolower((unsigned char)*at);
	for (const char *at = route->path; *at != '\0' && n < sizeof id - 1; at++) {
		if (*at == '/')
			id[n++] = '_';
		else if (isalnum((unsigned char)*at) || *at == '_')
			id[n++] = *at;
	}
	return json_stringn(id, n);
}

static json_t *
media(json_t *schema)
{
	return json_pack("{s:{s:o}}", "application/json", "schema", schema);
}

static json_t *
operation_of(const struct openapi_route *route)
{
	json_t *error = json_pack("{s:s}", "$ref", "#/components/schemas/Error");
	json_t *operation = json_pack("{s:o, s:s, s:o, s:{s:{s:s, s:o}, s:{s:s, s:o}}}",
	    "operationId", id_of(route), "summary", route->doc, "parameters", parameters_of(route),
	    "responses", "200", "description", "The answer.", "content",
	    media(json_pack("{s:s}", "type", "object")), "default", "description",
	    "What is wrong, and what to do.", "content", media(error));

	if (route->body != NULL)
		json_object_set_new(operation, "requestBody",
		    json_pack("{s:b, s:o}", "required", 1, "content", media(route->body)));
	if (route->open)
		json_object_set_new(operation, "security", json_array());
	return operation;
}

void
openapi_add(json_t *document, const struct openapi_route *route)
{
	json_t *paths = json_object_get(document, "paths");
	json_t *path = json_object_get(paths, route->path);
	char method[16];
	size_t n = 0;

	for (; route->method[n] != '\0' && n < sizeof method - 1; n++)
		method[n] = (char)tolower((unsigned char)route->method[n]);
	method[n] = '\0';
	if (path == NULL) {
		path = json_object();
		json_object_set_new(paths, route->path, path);
	}
	json_object_set_new(path, method, operation_of(route));
}
