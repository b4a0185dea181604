/* SPDX-License-Identifier: Apache-2.0 */
/* url.h - URLs of an issuer and of this server: https, or http on loopback. */
#pragma once

#include "common/base/err.h"

/* Has it a scheme and a host that will do? */
int url_check(const char *name, const char *url, struct err *);
/* Where its path begins, in url itself; NULL with *e, which calls it by that name, where it has a
 * query or a fragment, too. */
const char *url_path(const char *name, const char *url, struct err *);
