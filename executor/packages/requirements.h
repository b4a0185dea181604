/* SPDX-License-Identifier: Apache-2.0 */
/* requirements.h - the files of a workspace that say what its programs need, as far as they name
 * packages with versions. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

/* Adds each requirement to the list, at most `most` in all.  invalid_argument names the line: it
 * has an option, or is too long; limit_exceeded. */
int requirements_read(const struct blob *text, size_t most, struct texts *, struct err *);
/* The same for the member `dependencies` of a package.json (npm). */
int requirements_of_manifest(const struct blob *text, size_t most, struct texts *, struct err *);
