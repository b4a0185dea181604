/* SPDX-License-Identifier: Apache-2.0 */
/* guide.h - the rules of a profile in words, from the tables that the checks of code apply. */
#pragma once

#include "common/profile/profile.h"

#include <stdio.h>

/* Do rules of profiles exist for the language? */
bool guide_knows(const char *language);
/* A line for each rule; under the profile open none, which has no rules. */
void guide_write(FILE *, const char *language, const struct profile_set *);
