/* SPDX-License-Identifier: Apache-2.0 */
/* url.h - URLs of an issuer and of this server: https, or http on loopback. */
#pragma once

#include "common/base/err.h"

/* Checks the scheme and the host. */
int url_check(const char *name, const char *url, struct err *);
/* Checks it likewise and refuses a query or a fragment. Returns the start of the path within url;
 * NULL with *e, which contains `name`. */
const char *url_path(const char *name, const char *url, struct err *);
