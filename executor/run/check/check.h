/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - a check of JavaScript or shell without running it, in a box of its own.
 *
 * What reads the code (V8, bash, ShellCheck) runs in the box (guest/check/).  Its answer is
 * hostile, and is worth as much as the validator's: a verdict, on which isolation never depends.
 */
#pragma once

#include "executor/event.h"

#include "common/profile/profile.h"

struct check;

struct check_ask {
	unsigned language; /* enum code_language; not python */
	struct blob code;  /* borrowed until check_begin() returns */
	const struct profile_set *set;
	const struct texts *only; /* allowed imports; items NULL: any */
	bool auto_fix;
	struct event_owner owner; /* of what is installed for it; lives until done */
	/* Exactly once, never before check_begin() returns.  A struct validation_report, which is
	 * freed afterwards unless the receiver took it and zeroed it.  NULL: *e says why. */
	void (*done)(void *self, void *report, const struct err *e);
	void *self;
};

/* Does this server check the runtime's language in a box? */
bool check_knows(unsigned language);
/* NULL with *e; then done is not called. */
struct check *check_begin(const struct check_ask *, struct err *);
/* The check stops soon; done is still called. */
void check_cancel(struct check *);

/* Reads what a checker wrote; strict and bounded, for tests.  The caller clears *report. */
int check_read(const struct blob *answer, struct validation_report *report, struct err *);
