/* SPDX-License-Identifier: Apache-2.0 */
/* schemas.c - JSON Schema 2020-12, stored as texts, because clients read them as texts. */
#include "common/table/schemas.h"

#include <stddef.h>
#include <string.h>

#define DIALECT "\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","

/* clang-format off */
const struct schema schemas[] = {
	{ "config", "Configuration of an application",
	  "{" DIALECT "\"title\":\"config\",\"type\":\"object\","
	  "\"required\":[\"app_name\",\"version\",\"settings\"],\"additionalProperties\":false,"
	  "\"properties\":{"
	  "\"app_name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":128},"
	  "\"version\":{\"type\":\"string\",\"pattern\":\"^[0-9]+\\\\.[0-9]+\\\\.[0-9]+$\"},"
	  "\"debug\":{\"type\":\"boolean\",\"default\":false},"
	  "\"settings\":{\"type\":\"object\"}}}" },
	{ "dataset", "Description of a table and its columns",
	  "{" DIALECT "\"title\":\"dataset\",\"type\":\"object\","
	  "\"required\":[\"name\",\"columns\"],\"additionalProperties\":false,"
	  "\"properties\":{"
	  "\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":128},"
	  "\"description\":{\"type\":\"string\"},"
	  "\"row_count\":{\"type\":\"integer\",\"minimum\":0},"
	  "\"columns\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"object\","
	  "\"required\":[\"name\",\"type\"],\"additionalProperties\":false,\"properties\":{"
	  "\"name\":{\"type\":\"string\",\"minLength\":1},"
	  "\"type\":{\"enum\":[\"string\",\"integer\",\"number\",\"boolean\",\"date\",\"datetime\"]},"
	  "\"nullable\":{\"type\":\"boolean\",\"default\":false},"
	  "\"description\":{\"type\":\"string\"}}}}}}" },
	{ "user", "A user's profile",
	  "{" DIALECT "\"title\":\"user\",\"type\":\"object\","
	  "\"required\":[\"id\",\"name\",\"email\"],\"additionalProperties\":false,"
	  "\"properties\":{"
	  "\"id\":{\"type\":[\"integer\",\"string\"]},"
	  "\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":256},"
	  "\"email\":{\"type\":\"string\",\"format\":\"email\"},"
	  "\"age\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":150},"
	  "\"roles\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true}}}" },
	{ 0 },
};
/* clang-format on */

bool
schemas_is_name(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_-.";
	size_t n = strlen(name);

	return n >= 1 && n <= 64 && *name != '.' && strspn(name, letters) == n;
}

const struct schema *
schemas_find(const char *name)
{
	for (const struct schema *s = schemas; s->name != NULL; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}
