/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - a cursor is the sealed number of the items before it, and is valid for a day. */
#include "gateway/mcp/page.h"

#include "gateway/mcp/sealed.h"

#include "gateway/options.h"

#include "common/base/auto.h"

#include <stdio.h>

enum {
	CURSOR_S = 86400,
};

static void
purpose(char text[64], const char *member)
{
	snprintf(text, 64, "cursor %s", member);
}

/* Sets where the page begins; NULL, or a refusal. */
static json_t *
read_cursor(const struct request *r, const char *member, size_t *start)
{
	json_t *cursor = json_object_get(r->params, "cursor");
	char about[64];
	struct err e;

	*start = 0;
	if (cursor == NULL || json_is_null(cursor))
		return NULL;
	if (!json_is_string(cursor))
		return method_refuse(r, "cursor must be a string");
	purpose(about, member);

	json_t *at =
	    sealed_read(about, r->origin.client->account, json_string_value(cursor), NULL, &e);

	if (at == NULL)
		return method_refuse(r, "cursor: %s", e.text);
	*start = (size_t)json_integer_value(at);
	json_decref(at);
	return NULL;
}

static void
add_cursor(const struct request *r, const char *member, json_t *result, size_t next)
{
	char about[64];
	json_t *at = json_integer((json_int_t)next);

	purpose(about, member);

	auto_free char *text = sealed_make(about, r->origin.client->account, at, CURSOR_S);

	json_decref(at);
	json_object_set_new(result, "nextCursor", json_string(text));
}

json_t *
page_answer(const struct request *r, const char *member, json_t *all)
{
	size_t start, count = json_array_size(all);
	json_t *refusal = read_cursor(r, member, &start);

	if (refusal != NULL) {
		json_decref(all);
		return refusal;
	}
	if (start == 0 && count <= options.page_size)
		return method_complete(r, json_pack("{s:o}", member, all));

	json_t *page = json_array(), *result = json_pack("{s:o}", member, page);
	size_t end = start;

	while (end < count && end - start < options.page_size)
		json_array_append(page, json_array_get(all, end++));
	json_decref(all);
	if (end < count)
		add_cursor(r, member, result, end);
	return method_complete(r, result);
}
