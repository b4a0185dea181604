/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - artifacts of earlier runs, for get_artifacts: names, digests, signatures, no contents.
 *
 * Kept in memory: for each principal the last LEDGER_RUNS runs that left files, and at most
 * LEDGER_BYTES for all together; the oldest are dropped first.
 */
#pragma once

#include "common/bus/bus.h"

enum {
	LEDGER_RUNS = 100,
	LEDGER_BYTES_EACH = 2 << 20,
	LEDGER_BYTES = 32 << 20,
};

/* Adds the artifacts of a run; copies what it needs. */
void ledger_keep(const struct owner *, const struct execution *);

int ledger_on_get_artifacts(struct call *, void *request, struct err *);
