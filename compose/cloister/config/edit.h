/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit.h - sets a server's entry in a JSON document.
 *
 * The file belongs to the user: every other key keeps its place and its value.  A document that
 * is not strict JSON, or whose values would change when it is printed, is refused.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <cjson/cJSON.h>

/* A local cJSON value that is deleted at the end of its scope. */
static inline void
auto_cjson_(cJSON **value)
{
	cJSON_Delete(*value);
}
#define auto_cjson __attribute__((cleanup(auto_cjson_)))

/*
 * Sets document[section].cloister to the entry.  Keys of an earlier entry that do not say how the
 * server is reached (env, disabled) are kept.  An empty document counts as {}.  *edited: the new
 * text, for free(), or NULL if the entry is there already.  -1 with invalid_argument if the
 * document is refused; no error text quotes it, because it may hold secrets.
 */
int edit_entry(const struct blob *document, const char *section, const cJSON *entry, char **edited,
    struct err *);
/* The same without document[section].cloister; *edited is NULL if it is not there. */
int edit_remove(const struct blob *document, const char *section, char **edited, struct err *);
