/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h - a document by HTTPS: one GET, no redirects, bounded in bytes and time.
 *
 * Plain HTTP only to loopback.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

enum {
	FETCH_MAX = 256 << 10, /* bytes of the response */
	FETCH_SECONDS = 10,
};

/* ca: a PEM file to trust instead of the system's certificate authorities, or "". *to is followed
 * by a zero byte that is not counted. not_found: the status is not 200. */
int fetch(const char *url, const char *ca, struct blob *to, struct err *);
