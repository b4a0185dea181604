/* SPDX-License-Identifier: Apache-2.0 */
/* interpreter.h - the Python of an image: the first python3 in the PATH of its configuration. */
#pragma once

#include "common/base/environment_name.h"
#include "compose/cloister/unpack/layout.h"
#include "compose/cloister/unpack/tree.h"

struct interpreter {
	char path[ENVIRONMENT_PATH]; /* within the image; its directory has no link */
	unsigned minor;              /* of Python 3 */
};

/* not_found: the image has none; invalid_argument: it is too old. */
int interpreter_find(
    const struct tree *, const struct layout *, struct interpreter *, struct err *);
