/* SPDX-License-Identifier: Apache-2.0 */
/* grant.h - approvals without a request, and which approvals a run has. */
#pragma once

#include "common/bus/bus.h"

/* The approvals in force for the caller.  One for a single run is used by the reply: it is durable
 * before the reply that no later run has it. */
int grant_on_grants(struct call *, void *request, struct err *);

/* From an operator's terminal: an approval for a namespace. */
int grant_on_grant(struct call *, void *request, struct err *);
