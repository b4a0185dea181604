/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit.c - cJSON edits the document, because it keeps the order of the keys; Jansson checks it.
 *
 * cJSON alone would not be safe here: it cuts a string at a zero byte, accepts a key twice, accepts
 * bytes that are not UTF-8 and rounds integers over 2^53.  Jansson refuses the first three before
 * cJSON reads anything.  The fourth is found afterwards: both texts are read by Jansson, and the
 * values beside the entry must be equal.
 */
#include "compose/cloister/config/edit.h"

#include "common/base/auto.h"

#include <jansson.h>
#include <string.h>

/* The keys that say how a server is reached.  An earlier entry loses those that the new one does
 * not have. */
static const char *const reach[] = { "type", "command", "args", "url", "headers" };

/* Some clients create a file with only white space. */
static bool
is_empty(const struct blob *document)
{
	return document->data == NULL ||
	       strspn((const char *)document->data, " \t\r\n") == document->size;
}

static json_t *
parse_strictly(const char *text, size_t size, struct err *e)
{
	json_error_t error;
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);

	/* The text of Jansson's error would quote the file. */
	if (root == NULL)
		err_set(e, ERR_invalid_argument,
		    "line %d is not strict JSON (a comment, a comma too many, a key twice?)",
		    error.line);
	else if (!json_is_object(root))
		err_set(e, ERR_invalid_argument, "it is not a JSON object");
	else
		return root;
	json_decref(root);
	return NULL;
}

/* ---- the edit ---- */

/* The object of this name; an empty one is added if there is none. */
static cJSON *
member(cJSON *parent, const char *name, struct err *e)
{
	cJSON *found = cJSON_GetObjectItemCaseSensitive(parent, name);

	if (found == NULL)
		found = cJSON_AddObjectToObject(parent, name);
	must(found != NULL);
	if (cJSON_IsObject(found))
		return found;
	err_set(e, ERR_invalid_argument, "\"%s\" in it is not an object", name);
	return NULL;
}

static void
set_entry(cJSON *old, const cJSON *entry)
{
	const cJSON *value;

	for (size_t i = 0; i < COUNT(reach); i++)
		if (cJSON_GetObjectItemCaseSensitive(entry, reach[i]) == NULL)
			cJSON_DeleteItemFromObjectCaseSensitive(old, reach[i]);
	cJSON_ArrayForEach(value, entry)
	{
		cJSON *copy = cJSON_Duplicate(value, true);

		must(copy != NULL);
		if (cJSON_GetObjectItemCaseSensitive(old, value->string) != NULL)
			cJSON_ReplaceItemInObjectCaseSensitive(old, value->string, copy);
		else
			cJSON_AddItemToObject(old, value->string, copy);
	}
}

/* 1: edited; 0: the entry was there already. */
static int
edit(cJSON *root, const char *section, const cJSON *entry, struct err *e)
{
	cJSON *servers = member(root, section, e);
	cJSON *own = servers == NULL ? NULL : member(servers, "cloister", e);

	if (own == NULL)
		return -1;

	auto_cjson cJSON *before = cJSON_Duplicate(own, true);

	must(before != NULL);
	set_entry(own, entry);
	return !cJSON_Compare(before, own, true);
}

/* ---- the check ---- */

/* Removes what the edit may change, so that the rest can be compared. */
static void
strip(json_t *root, const char *section)
{
	json_object_update_missing_new(root, json_pack("{s:{}}", section));
	json_object_update_missing_new(
	    json_object_get(root, section), json_pack("{s:{}}", "cloister"));

	json_t *own = json_object_get(json_object_get(root, section), "cloister");

	for (size_t i = 0; i < COUNT(reach); i++)
		json_object_del(own, reach[i]);
}

static int
check_rest(json_t *before, const char *text, const char *section, struct err *e)
{
	json_auto_t *after = parse_strictly(text, strlen(text), e);

	if (after == NULL)
		return -1;
	strip(before, section);
	strip(after, section);
	return json_equal(before, after)
	           ? 0
	           : err_set(e, ERR_invalid_argument,
			 "a number in it would be rounded or written in another form");
}

int
edit_entry(const struct blob *document, const char *section, const cJSON *entry, char **edited,
    struct err *e)
{
	bool empty = is_empty(document);
	const char *text = empty ? "{}" : (const char *)document->data;
	size_t size = empty ? 2 : document->size;
	json_auto_t *before = parse_strictly(text, size, e);

	*edited = NULL;
	if (before == NULL)
		return -1;

	auto_cjson cJSON *root = cJSON_ParseWithLength(text, size);

	if (root == NULL)
		return err_set(e, ERR_invalid_argument, "its values are nested too deeply");

	int status = edit(root, section, entry, e);

	if (status <= 0)
		return status;

	auto_free char *printed = cJSON_Print(root);

	must(printed != NULL);
	if (check_rest(before, printed, section, e) < 0)
		return -1;
	must(asprintf(edited, "%s\n", printed) > 0);
	return 0;
}

/* ---- removal ---- */

int
edit_remove(const struct blob *document, const char *section, char **edited, struct err *e)
{
	*edited = NULL;
	if (is_empty(document))
		return 0;

	json_auto_t *before = parse_strictly(document->data, document->size, e);

	if (before == NULL)
		return -1;
	if (json_object_del(json_object_get(before, section), "cloister") < 0)
		return 0;

	auto_cjson cJSON *root = cJSON_ParseWithLength(document->data, document->size);

	if (root == NULL)
		return err_set(e, ERR_invalid_argument, "its values are nested too deeply");
	cJSON_DeleteItemFromObjectCaseSensitive(
	    cJSON_GetObjectItemCaseSensitive(root, section), "cloister");

	auto_free char *printed = cJSON_Print(root);

	must(printed != NULL);

	json_auto_t *after = parse_strictly(printed, strlen(printed), e);

	if (after == NULL)
		return -1;
	if (!json_equal(before, after))
		return err_set(e, ERR_invalid_argument,
		    "a number in it would be rounded or written in another form");
	must(asprintf(edited, "%s\n", printed) > 0);
	return 0;
}
