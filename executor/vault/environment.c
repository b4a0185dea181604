/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.c - secrets of the environment, sealed with a key of this process.
 *
 * The text of the environment is shown in /proc/PID/environ, so the values are overwritten there.
 * Trusts the operator who set the variables.
 */
#include "executor/vault/environment.h"

#include "executor/vault/cell.h"
#include "executor/vault/key.h"

#include "common/base/auto.h"
#include "common/daemon/starter.h"

#include <ctype.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX STARTER_SECRETS

enum { MAX_VARIABLES = 1000, MAX_VARIABLE = 160 };

struct variable {
	char *name; /* without the prefix */
	struct blob cell;
};

static struct {
	struct variable all[MAX_VARIABLES];
	size_t count;
} found;

static struct blob
label_of(const struct variable *v)
{
	return (struct blob){ v->name, strlen(v->name) };
}

static int
take(char *text, struct err *e)
{
	char *value = strchr(text, '=');
	struct variable *v = &found.all[found.count];

	if (value == NULL || strncmp(text, PREFIX, sizeof PREFIX - 1) != 0)
		return 0;
	if (found.count == MAX_VARIABLES)
		return err_set(
		    e, ERR_limit_exceeded, "more than %d variables " PREFIX "*", MAX_VARIABLES);
	text += sizeof PREFIX - 1;
	v->name = strndup(text, (size_t)(value - text));
	if (v->name == NULL)
		return err_sys(e, "name of a variable");
	found.count++;
	value++;

	struct blob of = label_of(v);
	int status = cell_seal(key_of_memory(), &of, value, strlen(value), &v->cell, e);

	sodium_memzero(value, strlen(value));
	return status;
}

int
environment_open(struct err *e)
{
	for (char **at = environ; *at != NULL; at++)
		if (take(*at, e) < 0)
			return -1;
	return 0;
}

/* NAMESPACE_NAME as it is, or as a shell can set it: upper case, other characters as _. */
static void
variable_of(char to[MAX_VARIABLE], const struct name *name, bool plain)
{
	snprintf(to, MAX_VARIABLE, "%s_%s", name->namespace, name->name);
	for (char *at = to; plain && *at != '\0'; at++)
		*at = isalnum((unsigned char)*at) ? (char)toupper((unsigned char)*at) : '_';
}

static const struct variable *
find(const struct name *name)
{
	for (int plain = 0; plain < 2; plain++) {
		char variable[MAX_VARIABLE];

		variable_of(variable, name, plain == 1);
		for (size_t i = 0; i < found.count; i++)
			if (strcmp(found.all[i].name, variable) == 0)
				return &found.all[i];
	}
	return NULL;
}

int
environment_reveal(const struct name *name, struct blob *value, struct err *e)
{
	const struct variable *v = find(name);

	if (v == NULL)
		return 0;

	struct blob of = label_of(v);

	return cell_open(key_of_memory(), &of, &v->cell, value, e) < 0 ? -1 : 1;
}

int
environment_each(const char *namespace, int (*see)(void *self, const char *name, struct err *),
    void *self, struct err *e)
{
	const struct name none = { .namespace = namespace, .name = "" };
	char given[MAX_VARIABLE], plain[MAX_VARIABLE];

	variable_of(given, &none, false);
	variable_of(plain, &none, true);
	for (size_t i = 0; i < found.count; i++) {
		const char *name = found.all[i].name;
		size_t size = strlen(given); /* that of the other, too */

		if ((strncmp(name, given, size) == 0 || strncmp(name, plain, size) == 0) &&
		    see(self, name + size, e) < 0)
			return -1;
	}
	return 0;
}

void
environment_close(void)
{
	while (found.count > 0) {
		struct variable *v = &found.all[--found.count];

		free(v->name);
		blob_clear(&v->cell);
	}
}
