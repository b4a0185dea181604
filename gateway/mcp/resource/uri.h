/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uri.h - URIs of resources, and their templates (RFC 6570: {name} and {+name} only).
 *
 * {name} matches one segment of a path.  {+name} matches the rest of the path.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#define URI_PATH "-._~/" /* for uri_escape(): the text is a path, */
#define URI_PART "-._~"  /* or a segment of one */

enum {
	URI_MAX = 49152, /* bytes of one: a path of 16384 with each byte escaped */
};

#define URI_STATUS    "sandbox://status"
#define URI_LOGS      "sandbox://logs"
#define URI_SCHEMAS   "sandbox://schemas"
#define URI_SESSIONS  "sandbox://sessions/"
#define URI_FILES     "sandbox://artifacts/"
#define URI_SNAPSHOTS "sandbox://snapshots/"
#define URI_AUDIT     "sandbox://audit/"

/* The values of the variables, {name: text}, a new reference; NULL: the URI does not match the
 * template.  A template without variables matches only itself. */
json_t *uri_match(const char *template, const char *uri);
/* The text with %XX for each byte that is not a letter, a digit or in `also`; allocated with
 * malloc, NULL: no memory. */
char *uri_escape(const char *text, const char *also);
/* The URI of a file, given by its relative name or by the path at which a program sees it;
 * allocated with malloc, NULL: no memory. */
char *uri_of_file(const char *session, const char *path);
