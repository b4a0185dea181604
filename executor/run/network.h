/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.h - the network of a run: which names it may reach, and egress's service for it.
 *
 * The names of a run are those of the call.  The operator's setting or a person's approval must
 * allow each of them.
 */
#pragma once

#include "common/bus/bus.h"

#include "executor/sandbox/sandbox.h"

/* Checks the setting egress_domains. */
int network_settle(struct err *);
/* The names that a run asks for; none: it has no network.  egress_denied: the operator does not
 * allow one of them, and approvald does not run. */
int network_domains(const struct execute_code *, struct texts *, struct err *);
/* Does the operator not allow all of these names?  Then approvals are needed. */
bool network_needs_grants(const struct texts *domains);
/* Asks approvald; as bus_ask().  The texts of the request are borrowed. */
uint64_t network_ask_grants(const struct owner *, struct approval_grants *request,
    void (*done)(void *self, void *reply, const struct err *), void *self, struct err *);
/* egress_denied: neither the operator nor an approval allows one of the names. */
int network_permit(const struct texts *domains, const struct approval_list *, struct err *);

struct network {
	const char *id; /* of the run */
	const struct texts *domains;
	const struct owner *owner;
	uint64_t asked;               /* the request to egress; 0: none is open */
	bool up;                      /* egress was asked */
	struct network_report report; /* after the end */
	void (*then)(void *self, const struct err *e);
	void *self;
};

/* Opens it in the box of the sandbox.  then: exactly once, when programs can use it, or with *e.
 * -1: it is not called. */
int network_begin(struct network *, struct sandbox *, void (*then)(void *, const struct err *),
    void *self, struct err *);
/* Closes it; then: when the report is there. */
void network_end(struct network *, void (*then)(void *, const struct err *), void *self);
/* The same without a report, if the run has failed. */
void network_drop(struct network *);
/* Fills usage.network and the hint of a failed run, and records events. */
struct event_owner;
int network_tell(
    const struct network *, const struct event_owner *, struct execution *, struct err *);
