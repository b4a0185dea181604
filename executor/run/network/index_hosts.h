/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_hosts.h - the package indexes that pip, npm and apt of this host are configured for.  No
 * index is named in this program: an operator who uses a mirror has configured it there.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

enum index_kind {
	INDEX_pypi,
	INDEX_npm,
	INDEX_debian,
	INDEX_COUNT,
};

/* Reads the configuration below root ("": of this host) and the environment; before the jail.  A
 * file that is missing or cannot be read has no index.  A second call replaces what was read. */
int index_hosts_settle(const char *root, struct err *);
/* Hosts as "name" or "name:port", for lists of domains; none: no index is configured. */
const struct texts *index_hosts_of(enum index_kind);
/* Further URLs, in the same form. */
const struct texts *index_hosts_more(enum index_kind);
/* The URL of the index without user, password and final slash; NULL: none is configured. */
const char *index_hosts_url(enum index_kind);
/* Does the configuration name that URL?  Otherwise it is where the program's own default begins. */
bool index_hosts_is_chosen(enum index_kind);
