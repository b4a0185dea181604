/* SPDX-License-Identifier: Apache-2.0 */
/* grant.h - which approvals a run has. */
#pragma once

#include "common/bus/bus.h"

/* Who runs, and where; namespace as request_namespace() returns it. */
struct run {
	int kind;
	const struct owner *owner;
	const char *namespace, *session;
};

/*
 * Whether the record, if it is in force, is for that run.  A record that a tool call asked for is
 * for its own principal with the same credentials' namespace.  One that an operator made names
 * principal and namespace only.
 */
bool grant_covers(const struct approval *, const struct run *);
/* The approvals in force for the caller.  One for a single run is used by the reply: it is durable
 * before the reply that no later run has it. */
int grant_on_grants(struct call *, void *request, struct err *);
