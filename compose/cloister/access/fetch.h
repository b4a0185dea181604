/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h - a document by HTTPS: one GET, no redirects, bounded in bytes and time.
 *
 * Plain HTTP only where challenge.h allows it, too: for a machine that talks to itself.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

enum {
	FETCH_MAX = 256 << 10, /* bytes of the answer */
	FETCH_SECONDS = 10,
};

/* ca: a PEM file to trust instead of the system's authorities, or "".  *to has a zero byte behind
 * it that is not counted.  not_found: another status than 200. */
int fetch(const char *url, const char *ca, struct blob *to, struct err *);
