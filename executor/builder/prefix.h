/* SPDX-License-Identifier: Apache-2.0 */
/* prefix.h - the directories that a Python interpreter outside of /usr needs: that of its virtual
 * environment, and that of the installation behind it. */
#pragma once

#include "common/base/err.h"

#include <stddef.h>

enum {
	PREFIXES = 2,
	PREFIX_BYTES = 4096,
};

/*
 * Stores them, absolute and without links; *n is 0 for an interpreter below /usr.  -1: it is in no
 * environment, boxes have a directory of their own there, or programs may not read it.
 */
int prefix_find(const char *python, char prefixes[PREFIXES][PREFIX_BYTES], size_t *n, struct err *);
