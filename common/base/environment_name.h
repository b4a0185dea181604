/* SPDX-License-Identifier: Apache-2.0 */
/* environment_name.h - names of environments of Python, which are also names of files. */
#pragma once

#include <stdbool.h>
#include <string.h>

enum {
	ENVIRONMENT_NAME = 32,  /* bytes */
	ENVIRONMENT_PATH = 512, /* of an interpreter within an image */
};

/* The interpreter of the setting `python`. */
#define ENVIRONMENT_DEFAULT "default"
/* Behind a name: the file with the modules that its interpreters import ahead. */
#define ENVIRONMENT_AHEAD   ".ahead"
/* In the directory of an environment that was made of an image: its files; and a line with the path
 * of its Python in them, a blank and the minor version. */
#define ENVIRONMENT_ROOTFS  "rootfs"
#define ENVIRONMENT_IMAGE   "image"

/* Lower-case letters, digits, and behind the first also . _ and -; not the name of the default, and
 * not that of a file beside another one. */
static inline bool
environment_named(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t size = strlen(name), end = strlen(ENVIRONMENT_AHEAD);

	return size > 0 && size <= ENVIRONMENT_NAME && name[strspn(name, allowed)] == '\0' &&
	       strchr("._-", name[0]) == NULL && strcmp(name, ENVIRONMENT_DEFAULT) != 0 &&
	       (size < end || strcmp(name + size - end, ENVIRONMENT_AHEAD) != 0);
}
