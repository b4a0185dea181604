/* SPDX-License-Identifier: Apache-2.0 */
/* domain.h - the form of a domain that programs may be allowed to reach. */
#pragma once

#include "common/base/err.h"

enum {
	DOMAIN_NAME = 253, /* bytes (RFC 1035) */
	DOMAIN_LABEL = 63,
	DOMAIN_CANONICAL = 301, /* room for the result */
};

/*
 * "Example.com.:443" to "example.com:443".  A leading "*." stands for all names below.  The port is
 * optional.  Only the ASCII form of an international name is accepted, so that a person sees the
 * name that is resolved and no look-alike of it.  invalid_argument: not such a name, an address,
 * or a name of one label (or a wildcard directly below a top-level domain).  canonical has room
 * for DOMAIN_CANONICAL bytes.
 */
int domain_check(const char *text, char *canonical, struct err *);
