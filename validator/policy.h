/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h - what a check allows: the profiles that were asked for, and what narrows them. */
#pragma once

#include "common/profile/profile.h"

struct policy {
	struct profile_set set;
	const struct texts *only; /* no other modules; the caller's; NULL: not narrowed */
};

/* Several profiles are separated by commas; NULL: strict.  An unknown one is invalid_argument that
 * names the known ones. */
int policy_read(const char *profile, const struct texts *only, struct policy *, struct err *);

/* May this dotted name be imported? */
bool policy_module(const struct policy *, const char *dotted);
/* Does an allowed module lie below it, as os.path below os? */
bool policy_leads(const struct policy *, const char *dotted);
/* Do the profiles allow it, whatever allowed_imports says? */
bool policy_profile_module(const struct policy *, const char *dotted);
bool policy_has(const struct policy *, enum power);
