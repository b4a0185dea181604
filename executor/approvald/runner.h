/* SPDX-License-Identifier: Apache-2.0 */
/* runner.h - who runs, and which approvals are his. */
#pragma once

#include "common/bus/bus.h"

#include <stdbool.h>

/* Who runs, and where; namespace as request_namespace() returns it. */
struct runner {
	int kind;
	const struct owner *owner;
	const char *namespace, *session;
};

/*
 * Whether the record, if it is in force, is for that run.  A record that a tool call asked for is
 * for its own principal with the same credentials' namespace.  One that an operator made names
 * principal and namespace only.
 */
bool runner_has(const struct runner *, const struct approval *);
