/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdicts.h - code that the validator passed a short while ago, and that it is not asked of again.
 *
 * What it says follows from the code, its language, the profile, the imports that are allowed and
 * the validator's own rules.  So a good verdict holds for the setting verdict_seconds from when it
 * was given, however often it is used, and not beyond the loss of a validator, after which another
 * may come that has other rules: while none is there, what was passed before is refused like all
 * else.  A bad verdict is not kept: its findings are the validator's to tell.
 *
 * It holds for the principal and the name space that it was given to.  Nobody learns from the time
 * of a call what another has run.
 *
 * There is room for a fixed number.  Where all of it is taken, the one that was not used for
 * longest goes, of a principal that has half of them one of its own: who runs new code all the time
 * does not push out what others run again.  Several who do so together can; what a call of the
 * others loses then is what it takes to ask, half a millisecond.
 */
#pragma once

#include "common/bus/bus.h"

#include "executor/run/plan.h"

enum {
	VERDICTS = 512,
	VERDICTS_EACH = VERDICTS / 2,
};

/* Did this code pass?  It is used by that. */
bool verdicts_has(const struct call *, const struct plan *);
/* It passed now. */
void verdicts_keep(const struct call *, const struct plan *);
