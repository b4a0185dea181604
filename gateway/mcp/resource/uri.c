/* SPDX-License-Identifier: Apache-2.0 */
/* uri.c - matches without a library; URIs come from clients, templates from the gateway's own
 * tables. */
#include "gateway/mcp/resource/uri.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c == '\0' ? NULL : strchr(digits, tolower((unsigned char)c));

	return at == NULL ? -1 : (int)(at - digits);
}

/* Decodes size bytes of a URI; NULL: they are not valid in a URI, or do not decode to a text. */
static json_t *
unescape(const char *from, size_t size)
{
	auto_free char *text = malloc(size + 1);
	size_t used = 0;

	for (size_t i = 0; text != NULL && i < size; i++) {
		int high = 0, low = 0;

		if (from[i] == '%' && (size - i < 3 || (high = digit(from[i + 1])) < 0 ||
					  (low = digit(from[i + 2])) < 0))
			return NULL;
		text[used] = from[i];
		if (from[i] == '%')
			text[used] = (char)(unsigned char)(high << 4 | low);
		i += from[i] == '%' ? 2 : 0;
		if (text[used++] == '\0')
			return NULL;
	}
	return text == NULL ? NULL : json_stringn(text, used); /* checks that it is UTF-8 */
}

/* How many bytes a variable matches: the rest of the URI, or those before a slash, '?' or '#'. */
static size_t
span(const char *uri, bool all)
{
	return all ? strlen(uri) : strcspn(uri, "/?#");
}

static bool
add_variable(json_t *found, const char *name, size_t nname, const char *value, size_t size)
{
	json_t *text = size == 0 ? NULL : unescape(value, size);
	auto_free char *key = strndup(name, nname);

	return text != NULL && key != NULL && json_object_set_new(found, key, text) == 0;
}

static bool
match(const char *t, const char *uri, json_t *found)
{
	while (*t != '\0') {
		if (*t != '{') {
			if (*t++ != *uri++)
				return false;
			continue;
		}
		bool all = t[1] == '+';
		const char *name = t + 1 + all;
		size_t nname = strcspn(name, "}"), size = span(uri, all);

		if (!add_variable(found, name, nname, uri, size))
			return false;
		uri += size;
		t = name + nname + 1;
	}
	return *uri == '\0';
}

json_t *
uri_match(const char *template, const char *uri)
{
	json_t *found = strlen(uri) > URI_MAX ? NULL : json_object();

	if (found == NULL || match(template, uri, found))
		return found;
	json_decref(found);
	return NULL;
}

char *
uri_escape(const char *text, const char *also)
{
	static const char digits[] = "0123456789ABCDEF";
	char *escaped = malloc(3 * strlen(text) + 1), *to = escaped;

	for (; escaped != NULL && *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c < 128 && isalnum(c)) || strchr(also, c) != NULL) {
			*to++ = (char)c;
			continue;
		}
		*to++ = '%';
		*to++ = digits[c >> 4];
		*to++ = digits[c & 15];
	}
	if (escaped != NULL)
		*to = '\0';
	return escaped;
}

char *
uri_of_file(const char *session, const char *path)
{
	static const char *const places[] = { "/workspace/", "/mnt/data/", "/sandbox/workspace/" };
	char *uri = NULL;

	for (size_t i = 0; i < COUNT(places); i++)
		if (strncmp(path, places[i], strlen(places[i])) == 0)
			path += strlen(places[i]);

	auto_free char *escaped = uri_escape(path, URI_PATH);

	if (escaped == NULL || asprintf(&uri, URI_FILES "%s/%s", session, escaped) < 0)
		return NULL;
	return uri;
}
