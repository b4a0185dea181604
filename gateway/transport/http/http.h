/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - the HTTP transport: what is served where, its start and stop. */
#pragma once

#include "common/base/err.h"

#include <stddef.h>

/* Call before entering the jail. */
int http_open(struct err *);
int http_start(struct err *);
/* Stops serving: requests in progress are answered.  Returns how many there are still. */
size_t http_drain(void);
void http_stop(void);
