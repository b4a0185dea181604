/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdicts.h - cache of code that the validator passed a short while ago.
 *
 * A verdict depends only on the code, its language, the profile, the allowed imports and the
 * validator's own rules.  So a good verdict is valid for verdict_seconds from when it was given,
 * however often it is used.  It ends when the validator is lost, because the next one may have
 * other rules: while there is no validator, code with a verdict is refused like all other code.  A
 * bad verdict is not cached, because only the validator can give its findings.
 *
 * A verdict is valid for one owner, so that nobody learns from the time of a
 * call what others have run.
 *
 * The cache has a fixed size.  When it is full, the least recently used verdict is replaced; a
 * principal that has half of them loses one of its own.  So one principal that runs new code all
 * the time does not replace the verdicts of others.  Several such principals together can; a call
 * of the others then takes half a millisecond longer.
 */
#pragma once

#include "common/bus/bus.h"

#include "executor/run/plan.h"

enum {
	VERDICTS = 512,
	VERDICTS_EACH = VERDICTS / 2,
};

/* Is there a valid verdict for this code?  Counts as a use of it. */
bool verdicts_has(const struct owner *, const struct plan *);
/* Adds the verdict: the code passed now. */
void verdicts_keep(const struct owner *, const struct plan *);
