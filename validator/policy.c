/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.c - the requested profiles, as a check sees them.
 *
 * Trusts only the tables: profile names come from a client, module names from a program.
 */
#include "validator/policy.h"

#include <stddef.h>

int
policy_read(const char *profile, const struct texts *only, struct policy *policy, struct err *e)
{
	/* An empty list is a list: it allows no imports. */
	*policy = (struct policy){ .only = only != NULL && only->items != NULL ? only : NULL };
	return profile_read(profile != NULL ? profile : "strict", &policy->set, e);
}

bool
policy_module(const struct policy *policy, const char *dotted)
{
	return profile_module(&policy->set, policy->only, dotted);
}

bool
policy_leads(const struct policy *policy, const char *dotted)
{
	return profile_leads(&policy->set, policy->only, dotted);
}

bool
policy_profile_module(const struct policy *policy, const char *dotted)
{
	return profile_module(&policy->set, NULL, dotted);
}

bool
policy_has(const struct policy *policy, enum power power)
{
	return profile_has(&policy->set, power);
}
