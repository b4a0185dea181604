/* SPDX-License-Identifier: Apache-2.0 */
/* name.h - the key of a secret: its owner, its namespace and its name. */
#pragma once

#include "common/base/err.h"
#include "common/base/owner.h"

#include <stdint.h>

enum {
	NAME_MAX_VALUE = 65536, /* bytes of a value */
	NAME_MIN_VALUE = 8,     /* a shorter value would be redacted in ordinary output, too */
};

/* Borrowed texts. */
struct name {
	const struct owner *owner;
	const char *namespace, *name;
};

/* namespace NULL: "default". -1: the namespace or the name is not well-formed. */
int name_read(
    struct name *, const struct owner *, const char *namespace, const char *name, struct err *);
/* The same for a namespace alone. */
int name_check_namespace(const char *namespace, struct err *);
/* The value has an allowed size. */
int name_check_value(const struct name *, size_t size, struct err *);
/* Does a row of the setting `operators` match this principal? */
bool name_is_operator(const char *principal);
