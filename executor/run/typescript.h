/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typescript.h - TypeScript, which is JavaScript once its types are taken out.
 *
 * Node of Debian 12 cannot do that.  The package amaro can, which newer ones use for it; so a
 * program in TypeScript is one of Node with that package, from the operator's registry.
 */
#pragma once

#include "executor/run/plan.h"

/* invalid_argument: the policy has rules, which need a syntax tree of JavaScript. */
int typescript_check(const struct plan *, struct err *);
/* Has the plan, whose language is Node, amaro installed first, unless the session has it. */
int typescript_need(struct plan *, const struct session *, struct err *);
