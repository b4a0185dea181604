/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c - walks the tables of messages; arguments come from a model and are not trusted. */
#include "gateway/mcp/arguments.h"

#include <ctype.h>
#include <string.h>

enum {
	ID_HEX = 32, /* digits at the end of an id of a session or a task */
};

const char **
arguments_slot(enum msg_id id, void *message, const char *name)
{
	const struct message *m = &messages[id];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (f->kind == KIND_TEXT && strcmp(f->name, name) == 0)
			return (const char **)((char *)message + f->offset);
	return NULL;
}

const char *
arguments_text(enum msg_id id, const char *message, const char *name)
{
	const char **slot = arguments_slot(id, (char *)(uintptr_t)message, name);

	return slot == NULL ? NULL : *slot;
}

enum peer
arguments_server(enum msg_id tool, const void *request)
{
	const struct message *m = &messages[tool];

	if ((m->hints & TAKES_FILE) != 0 && arguments_text(tool, request, "path") != NULL)
		return PEER_executor;
	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		const char *value = (const char *)request + f->offset;

		if ((m->hints & IN_BOX) == 0)
			break;
		if (f->kind == KIND_WORD && f->set == SET_code_language &&
		    *(const int *)value != code_language_python)
			return PEER_executor;
		if (f->kind == KIND_FLAG && f->own && *(const bool *)value)
			return PEER_executor;
	}
	return m->server;
}

bool
arguments_instance(const char *prefix, const char *id, char *instance, size_t size)
{
	size_t start = strlen(prefix), n = id == NULL ? 0 : strlen(id);

	if (n < start + 1 + 1 + ID_HEX || strncmp(id, prefix, start) != 0)
		return false;

	size_t end = n - ID_HEX - 1;

	if (id[end] != '_' || end - start >= size)
		return false;
	memcpy(instance, id + start, end - start);
	instance[end - start] = '\0';
	return true;
}

void
arguments_trace(const json_t *meta, char trace[56])
{
	static const char form[] = "00-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh";
	const char *given = json_string_value(json_object_get(meta, "traceparent"));

	trace[0] = '\0';
	if (given == NULL || strlen(given) != sizeof form - 1)
		return;
	for (size_t i = 0; form[i] != '\0'; i++)
		if (form[i] == 'h'
			? !isxdigit((unsigned char)given[i]) || isupper((unsigned char)given[i])
			: given[i] != form[i])
			return;
	if (strspn(given + 3, "0") < 32 && strspn(given + 36, "0") < 16)
		memcpy(trace, given, sizeof form);
}

size_t
arguments_file_bytes(enum msg_id tool, const json_t *arguments)
{
	const struct message *m = &messages[tool];
	json_int_t length = json_integer_value(json_object_get(arguments, "length"));

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (f->kind == KIND_UINT && strcmp(f->name, "length") == 0)
			return length > 0 && length < f->high ? (size_t)length : (size_t)f->high;
	return 0;
}

size_t
arguments_bytes(enum msg_id id, const void *msg)
{
	const struct message *m = &messages[id];
	size_t sum = 0;

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		const void *slot = (const char *)msg + f->offset;
		const struct list *list = slot;

		if (f->kind == KIND_PAGE || f->kind == KIND_BLOB || f->kind == KIND_ANY)
			sum += ((const struct blob *)slot)->size;
		if (f->kind == KIND_TEXT && *(char *const *)slot != NULL)
			sum += strlen(*(char *const *)slot);
		for (size_t i = 0; f->kind == KIND_LIST && i < list->count; i++)
			sum +=
			    arguments_bytes(f->of, (char *)list->items + i * messages[f->of].size);
	}
	return sum;
}
