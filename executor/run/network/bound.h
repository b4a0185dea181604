/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.h - has secretd authenticate the programs of a run at package indexes that have credentials
 * there, which the run never sees.
 */
#pragma once

#include "common/bus/bus.h"

/* Zeroed at first. */
struct bound {
	uint64_t asked;     /* the request to secretd; 0: none is open */
	uint64_t timer;     /* until it answers */
	struct texts names; /* that have credentials; none: there is nothing to trust */
	char *certificate;  /* in PEM, which the run's box must trust */
	char instance[65];  /* of secretd */
	void (*then)(void *self, const struct err *e);
	void *self;
};

/* Do these domains reach an index at port 443, by HTTPS? */
bool bound_wanted(const struct texts *domains);
/* Asks for those.  then: exactly once, never from within, when the names are known, or with *e; the
 * caller has set bound->self, its argument.  -1: it is not called.  The request is open until
 * bound_drop(). */
int bound_begin(struct bound *, const char *run, const struct texts *domains, const struct owner *,
    void (*then)(void *self, const struct err *e), struct err *);
/* Does secretd serve connections of the run to that name and port? */
bool bound_has(const struct bound *, const char *name, uint64_t port);
/* Closes the run's connections to these names.  then is not called any more. */
void bound_drop(struct bound *);
