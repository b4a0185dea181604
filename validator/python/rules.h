/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - applies rules.def to a program under a policy. */
#pragma once

#include "validator/python/program.h"

/* Adds a finding for each place that breaks a rule. */
void rules_check(const struct program *, struct report *);
