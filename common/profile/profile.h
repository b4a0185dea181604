/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - profiles in calls, sessions and settings, and the modules that they allow.
 *
 * Profiles are a second line of defence and a help for authors; the security of a box never depends
 * on them. Trusts only the tables: names of profiles and modules come from clients and programs.
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
/* A sentence about it. */
const char *profile_doc(enum profile);
/* Several names are separated by commas. invalid_argument: an unknown name (the text lists the
 * known ones), or open together with others. */
int profile_read(const char *names, struct profile_set *, struct err *);
/* Any module, any power? */
bool profile_is_open(const struct profile_set *);
bool profile_has(const struct profile_set *, enum power);

/* Is the dotted name the entry or below it?  "os.path.join" is within "os.path", "os.pathx" is not.
 */
bool profile_within(const char *dotted, const char *entry);
/*
 * Is the module allowed? `only` restricts further: the module must also be within one of these;
 * NULL: no restriction. An empty list permits no imports.
 */
bool profile_module(const struct profile_set *, const struct texts *only, const char *dotted);
/* Is a module below it allowed, as os.path below os? */
bool profile_leads(const struct profile_set *, const struct texts *only, const char *dotted);
/* The first profile except open that allows the module, or NULL. */
const char *profile_suggest(const char *dotted);
/* Adds the names of the allowed modules, each of which includes the modules below it. Adds nothing
 * for open without restriction, which allows any. */
int profile_modules(
    const struct profile_set *, const struct texts *only, struct texts *names, struct err *);
