/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.c - reads the directory of environments.
 *
 * NAME is the directory of a virtual environment or of an image, or a link to one; the file
 * NAME.ahead, if there is one, has modules to import ahead besides those of the setting preimport.
 *
 * Trusts the operator, who alone can write there.  Modules that are imported ahead run in a zygote
 * (builder/zygotes.c), before any wall.  An image comes from elsewhere, so it has no zygote, and
 * nothing of it is read here but the line that cloister-unpack wrote.
 */
#include "executor/environment.h"

#include "executor/builder/order.h"
#include "executor/options.h"

#include "common/base/auto.h"
#include "common/base/environment_name.h"
#include "common/base/fdio.h"
#include "common/base/log.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_AHEAD = 4096,
};

static struct environment table[ORDER_MAX_ENVIRONMENTS] = { { .name = ENVIRONMENT_DEFAULT } };
static size_t count = 1;

static int
is_entry(const struct dirent *entry)
{
	return environment_named(entry->d_name);
}

/* The modules that every interpreter has, and those of the file. */
static char *
read_ahead(const char *directory, const char *name)
{
	auto_free char *path = NULL;
	struct blob text = { 0 };
	struct err e;
	char *list = NULL;

	if (asprintf(&path, "%s/%s" ENVIRONMENT_AHEAD, directory, name) < 0 ||
	    fdio_load(AT_FDCWD, path, MAX_AHEAD, &text, &e) < 0)
		return strdup(options.preimport);

	int n = asprintf(&list, "%s,%.*s", options.preimport, (int)strcspn(text.data, "\n"),
	    (const char *)text.data);

	blob_clear(&text);
	return n < 0 ? NULL : list;
}

/* The interpreter and its version, as cloister-unpack wrote them; -1: this is no image. */
static int
read_image(const char *real, struct environment *to)
{
	auto_free char *line = NULL;
	char *root = NULL, *end = NULL;
	struct blob text = { 0 };
	struct err e;

	if (asprintf(&line, "%s/" ENVIRONMENT_IMAGE, real) < 0 ||
	    fdio_load(AT_FDCWD, line, ENVIRONMENT_PATH + 16, &text, &e) < 0)
		return -1;

	char *blank = strchr(text.data, ' ');

	if (blank != NULL)
		*blank = '\0';
	if (blank == NULL || asprintf(&root, "%s/" ENVIRONMENT_ROOTFS, real) < 0) {
		blob_clear(&text);
		return -1;
	}
	to->minor = (unsigned)strtoul(blank + 1, &end, 10);
	to->python = strdup(text.data);
	to->root = root;
	to->ahead = "";
	blob_clear(&text);
	return 0;
}

static int
read_venv(const char *directory, const char *name, const char *real, struct environment *to)
{
	char *python = NULL;

	if (asprintf(&python, "%s/bin/python3", real) < 0)
		return -1;
	if (access(python, X_OK) < 0) {
		free(python);
		return -1;
	}
	to->python = python;
	to->ahead = read_ahead(directory, name);
	return 0;
}

/* -1: there is no interpreter in it. */
static int
add(const char *directory, const char *name)
{
	struct environment *to = &table[count];
	auto_free char *path = NULL;
	auto_free char *real = NULL;

	if (asprintf(&path, "%s/%s", directory, name) < 0 ||
	    (real = realpath(path, NULL)) == NULL ||
	    (read_image(real, to) < 0 && read_venv(directory, name, real, to) < 0))
		return -1;
	to->name = strdup(name);
	must(to->name != NULL && to->python != NULL && to->ahead != NULL);
	count++;
	return 0;
}

static char *
where(const char *state)
{
	char *directory = NULL;

	if (options.environments[0] != '\0')
		return strdup(options.environments);
	if (state == NULL || asprintf(&directory, "%s/environments", state) < 0)
		return NULL;
	return directory;
}

static void
add_all(const char *directory)
{
	struct dirent **entries = NULL;
	int n = scandir(directory, &entries, is_entry, alphasort);

	for (int i = 0; i < n; i++) {
		if (count == COUNT(table))
			log_warn("an environment is left out, for there are too many",
			    LOG_S("environment", entries[i]->d_name));
		else if (add(directory, entries[i]->d_name) < 0)
			log_warn(
			    "an environment is left out, for it has no bin/python3 and is no image",
			    LOG_S("environment", entries[i]->d_name));
		free(entries[i]);
	}
	free((void *)entries);
}

void
environment_open(const char *state)
{
	auto_free char *directory = where(state);

	table[0].python = options.python;
	table[0].ahead = options.preimport;
	if (directory != NULL)
		add_all(directory);
}

size_t
environment_count(void)
{
	return count;
}

const struct environment *
environment_at(size_t number)
{
	must(number < count);
	return &table[number];
}

int
environment_ask(const char *name, uint64_t *number, struct err *e)
{
	char names[ORDER_MAX_ENVIRONMENTS * (ENVIRONMENT_NAME + 2) + 1];
	size_t size = 0;

	names[0] = '\0';
	for (size_t i = 0; i < count && name != NULL; i++) {
		if (strcmp(table[i].name, name) == 0) {
			*number = i;
			return 0;
		}
		size += (size_t)snprintf(
		    names + size, sizeof names - size, "%s%s", i > 0 ? ", " : "", table[i].name);
	}
	if (name == NULL)
		return 0;
	return err_set(
	    e, ERR_invalid_argument, "environment: '%.32s' is not one of %s", name, names);
}

int
environment_needs_host(uint64_t number, const char *what, struct err *e)
{
	must(number < count);
	return table[number].root == NULL
	           ? 0
	           : err_set(e, ERR_invalid_argument, "%s: the environment %s is an image, %s",
			 what, table[number].name,
			 "whose programs have its files only; name another one, or none");
}
