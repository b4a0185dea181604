/* SPDX-License-Identifier: Apache-2.0 */
/* advice.c - trusts the texts of daemons to be UTF-8; parts of them can be a program's. */
#include "gateway/mcp/advice.h"

#include "common/table/schema.h"

#include "common/base/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64 };

static bool (*is_offered)(const char *tool);

void
advice_choose(bool (*offered)(const char *tool))
{
	is_offered = offered;
}

static bool
is_absent_tool(const char *word, size_t size)
{
	char name[NAME_BYTES];

	if (is_offered == NULL || size >= sizeof name || memchr(word, '_', size) == NULL)
		return false;
	memcpy(name, word, size);
	name[size] = '\0';

	enum msg_id id = message_find(name);

	return id != MSG_none && messages[id].title != NULL && !is_offered(name);
}

static bool
names_absent_tool(const char *text, size_t size)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";

	for (const char *at = text, *end = text + size; at < end;) {
		size_t word = strspn(at, letters);

		if (word > (size_t)(end - at))
			word = (size_t)(end - at);
		if (is_absent_tool(at, word))
			return true;
		at += word > 0 ? word : 1;
	}
	return false;
}

/* Its bytes, with the spaces behind it. */
static size_t
sentence(const char *text)
{
	const char *at = text;

	while (*at != '\0' && !(*at == '.' && (at[1] == ' ' || at[1] == '\0')))
		at++;
	at += *at == '.';
	return (size_t)(at - text) + strspn(at, " ");
}

json_t *
advice_of(const char *text)
{
	char *kept = malloc(strlen(text) + 1);
	size_t have = 0;

	if (kept == NULL)
		return NULL;
	for (size_t size; *text != '\0'; text += size) {
		size = sentence(text);
		if (!names_absent_tool(text, size))
			memcpy(kept + have, text, size), have += size;
	}
	while (have > 0 && kept[have - 1] == ' ')
		have--;

	json_t *advice = have > 0 ? json_stringn_nocheck(kept, have) : NULL;

	free(kept);
	return advice;
}

/* As a sentence. */
static void
remedy_of_limit(const struct err *e, char *text, size_t size)
{
	const char *at = NULL;

	for (const char *found = e->text; (found = strstr(found, "; ")) != NULL; found += 2)
		at = found + 2;
	if (at == NULL || *at == '\0') {
		snprintf(text, size, "%s", err_remedy(e->code));
		return;
	}
	snprintf(text, size, "%s%s", at, strchr(".?", at[strlen(at) - 1]) != NULL ? "" : ".");
	*text = (char)toupper((unsigned char)*text);
}

json_t *
advice_of_error(const struct err *e)
{
	char text[sizeof e->text + 1];

	if (e->code != ERR_limit_exceeded)
		return advice_of(err_remedy(e->code));
	remedy_of_limit(e, text, sizeof text);
	utf8_tame(text);
	return advice_of(text);
}

static void
fit_hint(json_t *error)
{
	const char *hint = json_string_value(json_object_get(error, "hint"));
	json_t *advice = hint == NULL ? NULL : advice_of(hint);

	if (advice != NULL)
		json_object_set_new(error, "hint", advice);
	else
		json_object_del(error, "hint");
}

static void
fit_notes(json_t *notes)
{
	for (size_t i = json_array_size(notes); i-- > 0;) {
		const char *note = json_string_value(json_array_get(notes, i));
		json_t *advice = note == NULL ? NULL : advice_of(note);

		if (advice != NULL)
			json_array_set_new(notes, i, advice);
		else
			json_array_remove(notes, i);
	}
}

void
advice_fit(json_t *reply)
{
	fit_hint(json_object_get(reply, "error"));
	fit_notes(json_object_get(reply, "notes"));
}
