/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uri.h - URIs of resources, and templates of them (RFC 6570: {name} and {+name} only).
 *
 * {name} stands for one part of a path, {+name} for all that is left of it.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

enum {
	URI_MAX = 49152, /* bytes of one: a path of 16384 with each byte escaped */
};

/* What the variables stand for, {name: text}, a new reference; NULL: the URI is none of the
 * template's.  A template without variables matches itself. */
json_t *uri_match(const char *template, const char *uri);
/* The text as a part of a path, or with slashes as several, of malloc; NULL: no memory. */
char *uri_escape(const char *text, bool slashes);
