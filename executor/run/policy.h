/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.h - the rules that code is held to before it runs, and the validator that applies them.
 *
 * A second line and a courtesy, never the reason a thing is safe: the profile open has no rules,
 * and costs no message.
 */
#pragma once

#include "common/profile/profile.h"

struct policy {
	char *profile;          /* as it was asked for, */
	struct profile_set set; /* and what it means */
	struct texts imports;   /* items NULL: any; otherwise code may import no others */
	const char *principal;  /* who asks; lent, for policy_ask() */
};

/* Does the operator let calls choose it? */
bool policy_is_enabled(enum profile);
/* Are these names of profiles, separated by commas, that the operator allows and that this language
 * can be held to?  invalid_argument, denied. */
int policy_check_profile(const char *names, unsigned language, struct err *);
/* The call's own profile and imports, which are taken, or else the session's (may be NULL), or else
 * the server's. */
int policy_read(struct policy *, struct execute_code *, unsigned language,
    const char *session_profile, struct err *);
void policy_clear(struct policy *);
/* Must the validator have passed it, and imports be guarded? */
bool policy_restricts(const struct policy *);
/*
 * What a driver is told, so that an import which the validator could not see (of a computed name,
 * of text that is executed) is refused while the program runs: lines, of which the first says what
 * does not allow others, the rest are the names of allowed modules.  Data NULL: nothing to guard.
 */
int policy_guard(const struct policy *, struct blob *guard, struct err *);

/*
 * Asks it; the code stays the caller's.  report NULL: *e says why there is no verdict, and the code
 * must not run.  Gives the name of the request, for bus_cancel(), or 0 with *e.
 */
uint64_t policy_ask(const struct policy *, unsigned language, const struct blob *code,
    void (*done)(void *self, void *report, const struct err *e), void *self, struct err *);
/* Says in the reply what the findings are of code that may not run. */
int policy_explain(const struct validation_report *, struct execution *reply, struct err *);
