/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.h - finds a program as a shell does. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The path of the first executable file of that name; false: none of the directories of the search
 * path has one. A name with a slash is its own path. */
bool lookup_find(const char *search, const char *name, char *path, size_t size);
