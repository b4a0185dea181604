/* SPDX-License-Identifier: Apache-2.0 */
/*
 * domains.h - which names a run may reach.
 *
 * The names of a run are those of the call, or else of its session.  Those of a call must be among
 * its session's if that has a list.  The operator's setting or a person's approval must allow each
 * of them.  An entry of a list is a domain, or the name of a group (domain_groups.def).
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

enum {
	DOMAINS_BYTES = 2048, /* of a session's list, with a zero byte */
};

/* Reads the setting egress_domains; after index_hosts_settle().  A wrong entry is logged and left
 * out. */
int domains_settle(struct err *);
/* A new session's list, separated by commas; owned by the caller, NULL: it has none.  -1: an
 * argument is wrong, or the operator does not allow a domain and approvald does not run. */
int domains_of_session(const struct create_session *, char **list, struct err *);
/* The names that a run asks for, in their one form; none: it has no network.  session: the list of
 * its session, or NULL.  egress_denied: the session or the operator does not allow one of them. */
int domains_of_run(const struct execute_code *, const char *session, struct texts *, struct err *);
/* Does one of these names cover a host of that list? */
bool domains_reach(const struct texts *, const struct texts *hosts);
/* Does the operator not allow all of these names?  Then approvals are needed. */
bool domains_need_grants(const struct texts *);
/* egress_denied: neither the operator nor an approval allows one of the names.  With notes it is
 * left out instead, and noted there. */
int domains_permit(struct texts *, const struct approval_list *, struct texts *notes, struct err *);
