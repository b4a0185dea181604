/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entries.c - which clients have an entry for this server, and does its program exist?
 *
 * Trusts the user's files to be theirs, not to be well formed. No text quotes them but the program.
 */
#include "compose/cloister/doctor/checks.h"

#include "compose/cloister/config/clients.h"
#include "compose/cloister/doctor/lookup.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	PATH = 4096,
	FILE_BYTES = 64 << 20,
};

enum entry { ENTRY_none, ENTRY_good, ENTRY_broken, ENTRY_unreadable };

/* JSON: {"SECTION": {"cloister": {"command" or "url": ...}}}. From malloc; NULL: no entry. */
static char *
program_of_json(const struct client *c, const struct blob *text, bool *readable)
{
	json_t *file = json_loadb(text->data, text->size, 0, NULL);
	const json_t *entry = json_object_get(json_object_get(file, c->section), "cloister");
	const char *command = json_string_value(json_object_get(entry, "command"));
	char *program = entry == NULL ? NULL : strdup(command ?: "");

	*readable = file != NULL;
	json_decref(file);
	return program;
}

/* TOML: the line `command = "..."` behind the line `[SECTION.cloister]`. */
static char *
program_of_toml(const struct client *c, const struct blob *text)
{
	char head[80];
	const char *line = text->data, *command = NULL;

	snprintf(head, sizeof head, "[%s.cloister]", c->section);
	line = line == NULL ? NULL : strstr(line, head);
	if (line == NULL)
		return NULL;
	while (command == NULL && (line = strchr(line, '\n')) != NULL && line[1] != '[') {
		line++;
		command = strncmp(line, "command", 7) == 0 ? strchr(line, '"') : NULL;
	}
	return command == NULL ? strdup("") : strndup(command + 1, strcspn(command + 1, "\"\n"));
}

/* "": it has a URL. */
static enum entry
judge(const struct machine *m, const char *program)
{
	char path[PATH];

	return program[0] == '\0' || lookup_find(m->search, program, path, sizeof path)
	           ? ENTRY_good
	           : ENTRY_broken;
}

/* *program: from malloc, or NULL. */
static enum entry
look(const struct machine *m, const struct client *c, char **program)
{
	struct err e;
	auto_free char *path = clients_path(c, false, &e);
	struct blob text = { 0 };
	bool readable = true;

	*program = NULL;
	if (path == NULL || fdio_load_given(path, FILE_BYTES, &text, &e) < 0)
		return path == NULL || e.sys == ENOENT || e.sys == ENOTDIR ? ENTRY_none
		                                                           : ENTRY_unreadable;
	*program = c->toml ? program_of_toml(c, &text) : program_of_json(c, &text, &readable);
	blob_clear(&text);
	if (*program == NULL)
		return readable ? ENTRY_none : ENTRY_unreadable;
	utf8_tame(*program);
	return judge(m, *program);
}

static void
append(char *list, size_t size, const char *name)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}

/* The first broken one is reported, else all good ones. */
void
entries_check(const struct machine *m, struct diagnosis *f)
{
	char lists[ENTRY_unreadable + 1][100] = { "" };

	for (const struct client *c = NULL; (c = clients_next(c)) != NULL;) {
		auto_free char *program = NULL;
		enum entry entry = look(m, c, &program);

		if (entry == ENTRY_broken) {
			diagnosis_set(f, DIAGNOSIS_weaker,
			    "%s starts %.200s, which is not a program", c->name, program);
			diagnosis_remedy(f, "cloister config %s --write", c->name);
			return;
		}
		append(lists[entry], sizeof lists[entry], c->name);
	}
	if (lists[ENTRY_good][0] != '\0')
		diagnosis_set(f, DIAGNOSIS_ok, "%s", lists[ENTRY_good]);
	else if (lists[ENTRY_unreadable][0] != '\0')
		diagnosis_set(f, DIAGNOSIS_weaker,
		    "no entry is found; the file of %s cannot be read as strict JSON",
		    lists[ENTRY_unreadable]);
	else
		diagnosis_set(f, DIAGNOSIS_weaker, "none of %s has an entry", lists[ENTRY_none]);
}
