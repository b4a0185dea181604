/* SPDX-License-Identifier: Apache-2.0 */
/* replaced.c - finds settings of replaced systems. Reads names of variables, never their values. */
#include "common/table/replaced.h"

#include "common/base/auto.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* clang-format off */
static const struct {
	const char *name, *instead;
} variables[] = {
#define VARIABLE(name, doc)               { name, doc },
#define KEY(...)
#include "common/table/replaced.def"
};

static const struct replaced_key keys[] = {
#define VARIABLE(...)
#define KEY(name, daemon, setting, doc)   { name, daemon, setting, doc },
#include "common/table/replaced.def"
};
/* clang-format on */

static bool noted[COUNT(keys)];

const struct replaced_key *
replaced_key(const char *name)
{
	for (size_t i = 0; i < COUNT(keys); i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

void
replaced_note(const struct replaced_key *key)
{
	noted[key - keys] = true;
}

size_t
replaced_name(const char *row, char name[REPLACED_BYTES])
{
	snprintf(name, REPLACED_BYTES, "%.*s", (int)strcspn(row, ": "), row);
	return strcspn(row, " ");
}

const char *
replaced_value(const char *row, const char *value, char ours[REPLACED_BYTES])
{
	size_t size = strlen(value);

	for (row += strcspn(row, ": "); *row == ':'; row += strcspn(row, ": ")) {
		row++;
		if (strncasecmp(row, value, size) != 0 || row[size] != '=')
			continue;
		row += size + 1;
		snprintf(ours, REPLACED_BYTES, "%.*s", (int)strcspn(row, ": "), row);
		return ours;
	}
	return value;
}

/* What all names of the replaced systems begin with. */
#define PREFIX "SANDBOX"

/* The directory may be a stranger's: a FIFO must not stop the start. */
static FILE *
open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat is;
	FILE *file = fd >= 0 && fstat(fd, &is) == 0 && S_ISREG(is.st_mode) ? fdopen(fd, "r") : NULL;

	if (file == NULL && fd >= 0)
		close(fd);
	return file;
}

void
replaced_report_file(const char *path, void (*report)(const char *name, const char *instead))
{
	static const char doc[] =
	    "the same name in the environment of this command, as in \"env\" of "
	    "the client's entry: a directory could change settings";
	char line[1024], name[REPLACED_BYTES];
	FILE *file = open_regular(path);

	for (int lines = 0; file != NULL && lines < 1000 && fgets(line, sizeof line, file);
	     lines++) {
		const char *at = line + strspn(line, " \t");

		at += strncmp(at, "export ", 7) == 0 ? 7 : 0;
		if (strncmp(at, PREFIX, sizeof PREFIX - 1) != 0 || strchr(at, '=') == NULL)
			continue;
		snprintf(name, sizeof name, "%.*s of %.32s", (int)strcspn(at, "= \t"), at, path);
		report(name, doc);
	}
	if (file != NULL)
		fclose(file);
}

/* variable: "NAME=value" */
static bool
is_variable(const char *variable, const char *name)
{
	size_t size = strlen(name);

	if (name[size - 1] == '*')
		return strncmp(variable, name, size - 1) == 0;
	return strncmp(variable, name, size) == 0 && variable[size] == '=';
}

static void
report_variable(const char *variable, void (*report)(const char *name, const char *instead))
{
	char name[REPLACED_BYTES];

	for (size_t i = 0; i < COUNT(variables); i++) {
		if (!is_variable(variable, variables[i].name))
			continue;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(variable, "="), variable);
		report(name, variables[i].instead);
		return;
	}
}

void
replaced_report(void (*report)(const char *name, const char *instead))
{
	for (char **variable = environ; *variable != NULL; variable++)
		report_variable(*variable, report);
	for (size_t i = 0; i < COUNT(keys); i++)
		if (noted[i])
			report(keys[i].name, keys[i].doc);
}
