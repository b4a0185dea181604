/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis.c - fills in the answer of a check. */
#include "compose/cloister/doctor/diagnosis.h"

#include <stdarg.h>
#include <stdio.h>

const char *const diagnosis_names[DIAGNOSIS_COUNT] = {
	[DIAGNOSIS_ok] = "ok",
	[DIAGNOSIS_weaker] = "weaker",
	[DIAGNOSIS_missing] = "missing",
	[DIAGNOSIS_unchecked] = "unchecked",
};

void
diagnosis_set(struct diagnosis *f, enum diagnosis_state state, const char *fmt, ...)
{
	va_list arguments;

	f->state = state;
	va_start(arguments, fmt);
	vsnprintf(f->text, sizeof f->text, fmt, arguments);
	va_end(arguments);
}

void
diagnosis_remedy(struct diagnosis *f, const char *fmt, ...)
{
	va_list arguments;

	va_start(arguments, fmt);
	vsnprintf(f->remedy, sizeof f->remedy, fmt, arguments);
	va_end(arguments);
}
