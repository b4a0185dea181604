/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h - what code may import and do: profiles.def, as a call asked for it. */
#pragma once

#include "common/err.h"
#include "common/schema.h"

enum {
	POLICY_TITLE = 96, /* room for the names of all profiles */
};

enum power_bit {
#define POWER(id, doc) POWER_BIT_##id,
#include "validator/profiles.def"
	POWER_BITS
};

enum power {
#define POWER(id, doc) POWER_##id = 1 << POWER_BIT_##id,
#include "validator/profiles.def"
	POWER_all = (1 << POWER_BITS) - 1,
};

struct policy {
	char title[POLICY_TITLE]; /* "strict", "basic, network" */
	unsigned profiles;        /* a bit each */
	unsigned lists;           /* of modules, a bit each */
	unsigned powers;          /* enum power */
	const struct texts *only; /* no other modules; the caller's; NULL: not narrowed */
};

/* Several profiles are separated by commas; NULL: strict.  An unknown one is invalid_argument that
 * names the known ones. */
int policy_read(const char *profile, const struct texts *only, struct policy *, struct err *);

/* May this dotted name be imported? */
bool policy_module(const struct policy *, const char *dotted);
/* Does an allowed module lie below it, as os.path below os? */
bool policy_leads(const struct policy *, const char *dotted);
/* Do the profiles allow it, whatever allowed_imports says? */
bool policy_profile_module(const struct policy *, const char *dotted);
/* The first profile, but for open, that allows the module; NULL where none does. */
const char *policy_suggest(const char *dotted);
bool policy_has(const struct policy *, enum power);
