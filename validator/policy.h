/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h - what a check allows: the requested profiles, narrowed by allowed_imports. */
#pragma once

#include "common/profile/profile.h"

struct policy {
	struct profile_set set;
	const struct texts *only; /* only these modules; borrowed; NULL: not narrowed */
};

/* Profiles are separated by commas; NULL: strict.  An unknown one is invalid_argument; the error
 * names the known profiles. */
int policy_read(const char *profile, const struct texts *only, struct policy *, struct err *);

/* May this dotted name be imported? */
bool policy_module(const struct policy *, const char *dotted);
/* Is an allowed module below it, like os.path below os? */
bool policy_leads(const struct policy *, const char *dotted);
/* Do the profiles allow it, regardless of allowed_imports? */
bool policy_profile_module(const struct policy *, const char *dotted);
bool policy_has(const struct policy *, enum power);
