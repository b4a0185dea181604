/* SPDX-License-Identifier: Apache-2.0 */
/* environment_name.h - names of environments of Python, which are also names of files. */
#pragma once

#include <stdbool.h>
#include <string.h>

enum {
	ENVIRONMENT_NAME = 32, /* bytes */
};

/* The interpreter of the setting `python`. */
#define ENVIRONMENT_DEFAULT "default"
/* Behind a name: the file with the modules that its interpreters import ahead. */
#define ENVIRONMENT_AHEAD   ".ahead"

/* Lower-case letters, digits, _ and -, which is not the first; not that of the default. */
static inline bool
environment_named(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t size = strlen(name);

	return size > 0 && size <= ENVIRONMENT_NAME && name[strspn(name, allowed)] == '\0' &&
	       name[0] != '-' && strcmp(name, ENVIRONMENT_DEFAULT) != 0;
}
