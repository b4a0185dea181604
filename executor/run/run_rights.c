/* SPDX-License-Identifier: Apache-2.0 */
/* run_rights.c - the rows of rights.def that the executor keeps, for a run that was read. */
#include "executor/run/run_rights.h"

#include "executor/run/day_use.h"
#include "executor/run/own_limits.h"
#include "executor/run/rights_limits.h"
#include "executor/runtime.h"

#include "common/base/auto.h"

#include <string.h>

/* Profiles may be joined by commas: the whole, or each part, must be allowed. */
static int
check_profile(const char *profile, const struct rights *rights, struct err *e)
{
	auto_free char *parts = strdup(profile);
	char *rest = NULL;

	must(parts != NULL);
	if (rights_allow(&rights->profiles, profile))
		return 0;
	for (char *part = strtok_r(parts, ", ", &rest); part != NULL;
	     part = strtok_r(NULL, ", ", &rest))
		if (rights_check(rights, &rights->profiles, "profile", part, e) < 0)
			return -1;
	return 0;
}

/* A caller that asks for all secrets of a namespace gets none where a policy lists some. */
static int
check_secrets(struct plan *plan, const struct rights *rights, struct err *e)
{
	plan->all_secrets = plan->all_secrets && !rights->secrets.given;
	return rights_check_all(rights, &rights->secrets, "env_secrets", &plan->secrets, e);
}

static int
check(struct plan *plan, const struct execute_code *ask, const struct limits *base, bool own_box,
    const struct rights *rights, struct err *e)
{
	if (rights == NULL)
		return 0;
	if (rights_check(rights, &rights->languages, "language",
		runtime_name(plan->language, plan->typed), e) < 0 ||
	    check_profile(plan->policy.profile, rights, e) < 0 ||
	    rights_check(rights, &rights->environments, "environment", ask->environment, e) < 0 ||
	    rights_check_all(rights, &rights->domains, "allowed_domains", &plan->domains, e) < 0 ||
	    check_secrets(plan, rights, e) < 0)
		return -1;
	return rights_limits(&plan->limits, base, own_box, rights, e);
}

int
run_rights_plan(struct plan *plan, const struct call *call, struct execute_code *ask,
    const struct session *session, struct err *e)
{
	const struct limits *limits =
	    session != NULL ? &session->limits : own_limits_of(&call->owner);
	const struct rights *rights = rights_of(&call->owner);

	if (day_use_check(&call->owner, rights, e) < 0 ||
	    plan_read(plan, ask, limits, session, rights, e) < 0)
		return -1;
	if (check(plan, ask, limits, session == NULL, rights, e) == 0)
		return 0;
	plan_clear(plan);
	return -1;
}
