/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - requests of programs, and what becomes of them with time.
 *
 * A request is asked once: the same one again (kind, owner, namespace, session, subject) is the
 * pending request, an approval in force, or for denial_s a denial.  So a model that repeats it
 * neither asks a person twice nor wears a person down.
 */
#pragma once

#include "common/bus/bus.h"
#include "executor/approvald/kind.h"

/* What is asked for, by whom.  The texts are borrowed; namespace and session may be NULL. */
struct wish {
	int kind;
	const struct owner *owner;
	const char *subject; /* canonical */
	const char *namespace, *session, *reason;
};

/* The namespace that a caller means: the named one, else that of the credentials.  NULL: the
 * default one. */
const char *request_namespace(const char *named, const struct owner *);
/* Returns the record that answers the wish, or the new request. */
struct approval *request_make(const struct wish *, uint64_t now_ms, struct err *);
/* Ends what is over at that time: requests without an answer, and approvals. */
void request_sweep(uint64_t now_ms);
/* What the caller of a tool learns of it, with borrowed texts. */
struct reported {
	struct approval_report report;
	char note[301], question[KIND_QUESTION];
};
void request_report(const struct approval *, uint64_t now_ms, struct reported *);
/* Sweeps once a second, in start(). */
void request_watch(void);

int request_on_egress(struct call *, void *request, struct err *);
