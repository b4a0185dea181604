/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typescript.h - TypeScript, which is JavaScript once its types are taken out.
 *
 * Node of Debian 12 cannot do that.  The package amaro can, which newer ones use for it; so a
 * program in TypeScript is one of Node with that package, from the operator's registry.
 */
#pragma once

#include "executor/session/session.h"

/* Has amaro among the packages that are installed first, unless the session (or NULL) has it. */
int typescript_need(struct texts *packages, const struct session *, struct err *);
