/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - the network of a run: egress's service for it.  domains.h decides about its names. */
#pragma once

#include "common/bus/bus.h"

#include "executor/sandbox/sandbox.h"

/* Asks approvald; as bus_ask().  The texts of the request are borrowed. */
uint64_t network_ask_grants(const struct owner *, struct approval_grants *request,
    void (*done)(void *self, void *reply, const struct err *), void *self, struct err *);
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
/* Fills usage.network and the hint of a failed run, and records events; secrets in names are
 * redacted. */
struct event_owner;
struct redact;
int network_tell(struct network *, const struct redact *, const struct event_owner *,
    struct execution *, struct err *);
