/* SPDX-License-Identifier: Apache-2.0 */
/* secret.h - a value that nobody else may see, from the command line or from stdin. */
#pragma once

#include "common/base/blob.h"
#include "common/base/err.h"

/*
 * word: the value in the command line, which is overwritten, so that later `ps` does not show it; a
 * warning goes to stderr. NULL: it is read from stdin, without echo from a terminal and without its
 * final line feed. The caller overwrites and frees *value, also after an error. limit_exceeded: it
 * is over `most` bytes.
 */
int secret_read(char *word, size_t most, struct blob *value, struct err *e);
