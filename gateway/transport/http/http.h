/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - clients that come over HTTP: what is served where, and its beginning and end. */
#pragma once

#include "common/base/err.h"

#include <stddef.h>

/* Before the jail. */
int http_open(struct err *);
int http_start(struct err *);
/* The process is to end: what is under way is answered; how much that still is. */
size_t http_drain(void);
void http_stop(void);
