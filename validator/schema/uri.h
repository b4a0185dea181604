/* SPDX-License-Identifier: Apache-2.0 */
/* uri.h - references of RFC 3986 and JSON pointers of RFC 6901, as far as schemas need them. */
#pragma once

#include "validator/schema/arena.h"

/* The reference, resolved against the base URI, with its fragment; "" is a base without any part.
 */
char *uri_resolve(struct arena *, const char *base, const char *reference);
/* Ends the URI before its fragment; returns the fragment with %XX decoded, "" if there is none. */
char *uri_split(struct arena *, char *uri);
/* Decodes ~0 and ~1 of a pointer's token in place. */
void uri_unescape(char *token);
/* pointer "/" key, with ~ and / escaped. */
char *uri_append(struct arena *, const char *pointer, const char *key);
