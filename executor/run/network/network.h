/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - the network of a run: egress's service for it.  domains.h decides about its names. */
#pragma once

#include "common/bus/bus.h"

#include "executor/event.h"
#include "executor/redact/known.h"
#include "executor/run/network/bound.h"
#include "executor/sandbox/sandbox.h"

/* Asks approvald; as bus_ask().  The texts of the request are borrowed. */
uint64_t network_ask_grants(const struct owner *, struct approval_grants *request,
    void (*done)(void *self, void *reply, const struct err *), void *self, struct err *);
struct network {
	const char *id; /* of the run */
	const struct texts *domains;
	struct event_owner owner;
	const struct known *known; /* secrets, which names may contain */
	uint64_t asked;            /* the request to egress; 0: none is open */
	struct bound bound;        /* its names that have credentials */
	struct sandbox *sandbox;
	int64_t until_ms;             /* egress is waited for */
	uint64_t timer;               /* until egress is there, and until it serves */
	bool up;                      /* egress has said that it serves */
	bool lost;                    /* egress ended before the run */
	struct network_report report; /* after the end */
	void (*then)(void *self, const struct err *e);
	void *self;
};

/* Opens it in the box of the sandbox.  then: exactly once, when egress serves it, or with *e.
 * -1: it is not called.  What programs use and what is refused is recorded when it happens. */
int network_begin(struct network *, struct sandbox *, void (*then)(void *, const struct err *),
    void *self, struct err *);
/* Closes it; then: when the report is there. */
void network_end(struct network *, void (*then)(void *, const struct err *), void *self);
/* The same without a report, if the run has failed. */
void network_drop(struct network *);
/* Fills usage.network, and says in the hint or in a note what was refused; records how much each
 * name was used. */
int network_tell(struct network *, struct execution *, struct err *);
