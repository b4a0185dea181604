/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - applies rules.def to a program under a policy. */
#pragma once

#include "validator/python/names.h"
#include "validator/report.h"
#include "validator/source.h"

struct program {
	const struct source *source;
	const struct policy *policy;
	struct tree tree;
	struct names names;
};

/* Adds a finding for each place that breaks a rule. */
void rules_check(const struct program *, struct report *);
