/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.h - the rules for code before it runs, and the validator that applies them.
 *
 * The policy is defence in depth and gives early errors; isolation never depends on it.  The
 * profile open has no rules and needs no message to the validator.
 */
#pragma once

#include "common/base/owner.h"
#include "common/profile/profile.h"

struct check;

struct policy {
	unsigned language;         /* of the code */
	bool typed;                /* that is TypeScript; set after policy_read() */
	char *profile;             /* as requested */
	struct profile_set set;    /* the parsed profile */
	struct texts imports;      /* modules that code may import; items NULL: any */
	const struct owner *owner; /* of the call; borrowed, for policy_ask() */
};

/* May calls choose this profile? */
bool policy_is_enabled(enum profile);
/* The same where a profile must be named: has a setting enabled it, not only its default? */
bool policy_is_named(enum profile);
/* Checks a comma-separated list of profiles: the operator enabled each, and each can be applied to
 * this language.  invalid_argument, denied. */
int policy_check_profile(const char *names, unsigned language, struct err *);
/* Takes the call's own profile and imports, or else the session's (may be NULL), or else the
 * server's. */
int policy_read(struct policy *, struct execute_code *, unsigned language,
    const char *session_profile, struct err *);
void policy_clear(struct policy *);
/* Must the validator pass the code, and must imports be guarded while it runs? */
bool policy_restricts(const struct policy *);
/*
 * The import guard for a driver: it refuses imports that the validator cannot see (computed names,
 * executed text) while the program runs.  Only the drivers of Python and Node have one; Node's
 * takes the first line.  That line says which rule forbids other modules, the other lines are the
 * names of allowed modules, and "-module.name" of members that need a power that the profile lacks,
 * "=module.name" of members of a module that has no others.  Data NULL: no guard.
 */
int policy_guard(const struct policy *, struct blob *guard, struct err *);

/* A question that is open; zeroed: none. */
struct policy_question {
	uint64_t ask;        /* to the validator, which checks Python */
	struct check *check; /* in a box, for other languages */
};

/*
 * Asks for a verdict; the caller keeps the code.  report NULL: *e says why there is none, and the
 * code must not run.  The receiver zeroes *question.
 */
int policy_ask(const struct policy *, const struct blob *code, struct policy_question *question,
    void (*done)(void *self, void *report, const struct err *e), void *self, struct err *);
/* The question is dropped; its receiver is still called. */
void policy_drop(const struct policy_question *);
/* Writes the findings about refused code to the reply. */
int policy_explain(const struct validation_report *, struct execution *reply, struct err *);
