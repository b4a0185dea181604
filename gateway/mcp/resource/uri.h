/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uri.h - URIs of resources, and templates of them (RFC 6570: {name} and {+name} only).
 *
 * {name} stands for one part of a path, {+name} for all that is left of it.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#define URI_PATH "-._~/" /* for uri_escape(): text is a path, */
#define URI_PART "-._~"  /* or a part of one */

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

/* What the variables stand for, {name: text}, a new reference; NULL: the URI is none of the
 * template's.  A template without variables matches itself. */
json_t *uri_match(const char *template, const char *uri);
/* The text with %XX for each byte that is no letter, no digit and not in `also`; of malloc, NULL:
 * no memory. */
char *uri_escape(const char *text, const char *also);
/* Of a file, by its relative name or where a program finds it; of malloc, NULL: no memory. */
char *uri_of_file(const char *session, const char *path);
