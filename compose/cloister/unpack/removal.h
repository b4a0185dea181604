/* SPDX-License-Identifier: Apache-2.0 */
/* removal.h - removes directories with all that is in them, without following a link. */
#pragma once

#include "common/base/err.h"

/* A file, or a directory with its content; it need not exist. */
int removal(int parent, const char *name, struct err *);
/* All in an open directory, which may be O_PATH. */
int removal_inside(int directory, struct err *);
