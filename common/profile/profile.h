/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - profiles as calls, sessions and settings name them, and the modules that they allow.
 *
 * A second line and a courtesy, never the reason a thing is safe.  Trusts the tables only: names of
 * profiles and of modules are a client's and a program's.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

enum {
	PROFILE_TITLE = 96, /* room for the names of all profiles */
};

enum profile {
#define PROFILE(name, ...) PROFILE_##name,
#include "common/profile/profiles.def"
	PROFILE_COUNT
};

enum power_bit {
#define POWER(id, doc) POWER_BIT_##id,
#include "common/profile/profiles.def"
	POWER_BITS
};

enum power {
#define POWER(id, doc) POWER_##id = 1 << POWER_BIT_##id,
#include "common/profile/profiles.def"
	POWER_all = (1 << POWER_BITS) - 1,
};

/* One profile, or several that were joined. */
struct profile_set {
	char title[PROFILE_TITLE]; /* "strict", "basic, network" */
	unsigned profiles;         /* a bit each */
	unsigned lists;            /* of modules, a bit each */
	unsigned powers;           /* enum power */
};

const char *profile_name(enum profile);
/* Several are separated by commas.  An unknown one is invalid_argument that names the known ones,
 * and so is open beside others. */
int profile_read(const char *names, struct profile_set *, struct err *);
/* Any module, any power? */
bool profile_is_open(const struct profile_set *);
bool profile_has(const struct profile_set *, enum power);

/* Is the dotted name the entry or below it?  "os.path.join" is within "os.path", "os.pathx" is not.
 */
bool profile_within(const char *dotted, const char *entry);
/*
 * `only` narrows: beside what the profiles allow, a module must be within one of these; NULL: not
 * narrowed.  An empty list is one: no imports at all.
 */
bool profile_module(const struct profile_set *, const struct texts *only, const char *dotted);
/* Does an allowed module lie below it, as os.path below os? */
bool profile_leads(const struct profile_set *, const struct texts *only, const char *dotted);
/* The first profile, but for open, that allows the module; NULL where none does. */
const char *profile_suggest(const char *dotted);
/* Adds the names of what is allowed: they and what is below them.  Not of open that is not
 * narrowed, which allows any. */
int profile_modules(
    const struct profile_set *, const struct texts *only, struct texts *names, struct err *);
