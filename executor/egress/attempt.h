/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.h - the names and ports that a run used, and those that were refused, each told to the
 * executor when it happens.
 *
 * A program chooses how many there are.  So refusals beyond a bound are only counted, and they
 * never take the place of a name that was used.
 */
#pragma once

#include "common/base/domain.h"
#include "common/bus/bus.h"

enum {
	ATTEMPTS_REFUSED = 64,
	ATTEMPTS_USED = 256,
};

struct attempt {
	char name[DOMAIN_NAME];
	uint16_t port;       /* 0: it was only resolved */
	const char *refused; /* why; NULL: it was used */
	bool told;           /* the executor got a part about it */
	uint64_t connections, bytes_in, bytes_out;
};

/* Zeroed at first. */
struct attempts {
	struct attempt used[ATTEMPTS_USED], refused[ATTEMPTS_REFUSED];
	size_t nused, nrefused;
	uint64_t more; /* refusals without an entry */
};

/* The entry of a connection that was made; NULL: there is no room. */
struct attempt *attempt_use(struct attempts *, struct call *, const char *name, uint16_t port);
/* Records a refusal; why: a text that stays. */
void attempt_refuse(
    struct attempts *, struct call *, const char *name, uint16_t port, const char *why);
/* Copies all to the report, which the caller clears.  -1: no memory. */
int attempt_report(const struct attempts *, struct network_report *);
