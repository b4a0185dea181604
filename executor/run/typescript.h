/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typescript.h - TypeScript, which is JavaScript once its types are taken out.
 *
 * Node of Debian 12 cannot do that.  The package amaro can, which newer ones use for it; so a
 * program in TypeScript is one of Node with that package, from the operator's registry.
 */
#pragma once

#include "executor/run/check/policy.h"
#include "executor/session/session.h"

/* invalid_argument: the policy has rules, which need a syntax tree of JavaScript. */
int typescript_check(const struct policy *, struct err *);
/* Has amaro among the packages that are installed first, unless the session (or NULL) has it. */
int typescript_need(struct texts *packages, const struct session *, struct err *);
