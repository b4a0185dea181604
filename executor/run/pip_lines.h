/* SPDX-License-Identifier: Apache-2.0 */
/* pip_lines.h - "!pip install x" and "%pip install x", as models write them for notebooks. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

/*
 * Takes these lines out of Python code, whose other lines keep their numbers, and adds what they
 * name to the packages.  A line with an option that matters, or inside a string of several lines,
 * stays.  The code is modified in place.
 */
int pip_lines_take(struct blob *code, struct texts *packages, struct err *);
