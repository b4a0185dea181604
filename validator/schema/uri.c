/* SPDX-License-Identifier: Apache-2.0 */
/* uri.c - see RFC 3986, section 5.2; trusts no part of a reference, which comes from a schema. */
#include "validator/schema/uri.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The parts of a reference, each with its delimiter: "http:" "//host" "/path" "?query" "#fragment".
 */
struct parts {
	const char *scheme, *authority, *path, *query, *fragment;
	size_t scheme_size, authority_size, path_size, query_size, fragment_size;
};

static size_t
scheme_size(const char *text)
{
	size_t n = 0;

	if (!isalpha((unsigned char)text[0]))
		return 0;
	while (isalnum((unsigned char)text[n]) || (text[n] != '\0' && strchr("+-.", text[n])))
		n++;
	return text[n] == ':' ? n + 1 : 0;
}

static struct parts
parse(const char *text)
{
	struct parts p = { .scheme = text, .scheme_size = scheme_size(text) };

	p.authority = text + p.scheme_size;
	if (strncmp(p.authority, "//", 2) == 0)
		p.authority_size = 2 + strcspn(p.authority + 2, "/?#");
	p.path = p.authority + p.authority_size;
	p.path_size = strcspn(p.path, "?#");
	p.query = p.path + p.path_size;
	p.query_size = *p.query == '?' ? strcspn(p.query, "#") : 0;
	p.fragment = p.query + p.query_size;
	p.fragment_size = strlen(p.fragment);
	return p;
}

/* Where the last segment of the output begins, with its slash. */
static size_t
last_segment(const char *out, size_t size)
{
	while (size > 0 && out[size - 1] != '/')
		size--;
	return size > 0 ? size - 1 : 0;
}

/* In place: "." and ".." are resolved (5.2.4). */
static size_t
remove_dots(char *path, size_t size)
{
	size_t in = 0, out = 0;

	while (in < size) {
		size_t next = in + 1;

		while (next < size && path[next] != '/')
			next++;
		size_t length = next - in;
		bool dot = length == 2 && memcmp(path + in, "/.", 2) == 0;
		bool up = length == 3 && memcmp(path + in, "/..", 3) == 0;

		if (up)
			out = last_segment(path, out);
		if ((dot || up) && next == size)
			path[out++] = '/';
		if (!dot && !up) {
			memmove(path + out, path + in, length);
			out += length;
		}
		in = next;
	}
	return out;
}

static char *
append(char *at, const char *text, size_t size)
{
	memcpy(at, text, size);
	return at + size;
}

/* The base's directory, then the reference's path (5.2.3). */
static char *
merge(char *at, const struct parts *base, const struct parts *r)
{
	size_t kept = base->path_size;

	while (kept > 0 && base->path[kept - 1] != '/')
		kept--;
	if (kept == 0 && base->authority_size > 0)
		*at++ = '/';
	at = append(at, base->path, kept);
	return append(at, r->path, r->path_size);
}

char *
uri_resolve(struct arena *arena, const char *base_text, const char *reference)
{
	const struct parts base = parse(base_text), r = parse(reference);
	char *uri = arena_take(arena, strlen(base_text) + strlen(reference) + 3), *at = uri;
	bool own = r.scheme_size > 0 || r.authority_size > 0;

	at = r.scheme_size > 0 ? append(at, r.scheme, r.scheme_size)
	                       : append(at, base.scheme, base.scheme_size);
	at = own ? append(at, r.authority, r.authority_size)
	         : append(at, base.authority, base.authority_size);
	char *path = at;
	if (!own && r.path_size == 0)
		at = append(at, base.path, base.path_size);
	else if (own || r.path[0] == '/')
		at = append(at, r.path, r.path_size);
	else
		at = merge(at, &base, &r);
	if (*path == '/')
		at = path + remove_dots(path, (size_t)(at - path));
	if (!own && r.path_size == 0 && r.query_size == 0)
		at = append(at, base.query, base.query_size);
	else
		at = append(at, r.query, r.query_size);
	at = append(at, r.fragment, r.fragment_size);
	*at = '\0';
	return uri;
}

char *
uri_split(struct arena *arena, char *uri)
{
	char *hash = strchr(uri, '#');

	if (hash == NULL)
		return arena_text(arena, "", 0);
	*hash = '\0';
	char *fragment = arena_text(arena, hash + 1, strlen(hash + 1)), *to = fragment;
	for (const char *from = fragment; *from != '\0'; from++) {
		char digits[3] = { (char)(from[0] == '%' ? from[1] : '\0') };

		if (digits[0] != '\0')
			digits[1] = from[2];
		if (isxdigit((unsigned char)digits[0]) && isxdigit((unsigned char)digits[1])) {
			*to++ = (char)strtol(digits, NULL, 16);
			from += 2;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	return fragment;
}

void
uri_unescape(char *token)
{
	char *to = token;

	for (const char *from = token; *from != '\0'; from++) {
		bool escaped = from[0] == '~' && (from[1] == '0' || from[1] == '1');

		*to++ = (char)(!escaped ? *from : from[1] == '0' ? '~' : '/');
		from += escaped;
	}
	*to = '\0';
}

char *
uri_append(struct arena *arena, const char *pointer, const char *key)
{
	size_t size = strlen(pointer);
	char *text = arena_take(arena, size + 2 * strlen(key) + 2);
	char *at = append(text, pointer, size);

	*at++ = '/';
	for (; *key != '\0'; key++)
		if (*key == '~' || *key == '/') {
			*at++ = '~';
			*at++ = (char)(*key == '~' ? '0' : '1');
		} else {
			*at++ = *key;
		}
	return text;
}
