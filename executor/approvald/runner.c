/* SPDX-License-Identifier: Apache-2.0 */
/* runner.c - trusts the executor for who runs. */
#include "executor/approvald/runner.h"

#include "executor/approvald/store.h"

#include <string.h>

static bool
equal(const char *a, const char *b)
{
	return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

bool
runner_has(const struct runner *run, const struct approval *a)
{
	bool owned =
	    a->granted ? equal(a->principal, run->owner->principal) : store_owned(a, run->owner);

	if (!owned || a->kind != run->kind || !equal(a->namespace, run->namespace))
		return false;
	if (a->duration == approval_duration_namespace)
		return true;
	return a->session_id == NULL ? a->duration == approval_duration_once
	                             : equal(a->session_id, run->session);
}
