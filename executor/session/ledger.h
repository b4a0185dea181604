/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - what earlier runs left, for get_artifacts: names, digests and signatures, no contents.
 *
 * Kept in memory, of each principal the last LEDGER_RUNS runs that left anything, and of all
 * together no more than LEDGER_BYTES; the oldest go first.
 */
#pragma once

#include "common/bus/bus.h"

enum {
	LEDGER_RUNS = 100,
	LEDGER_BYTES_EACH = 2 << 20,
	LEDGER_BYTES = 32 << 20,
};

/* Copies what it needs. */
void ledger_keep(const struct call *, const struct execution *);

int ledger_on_get_artifacts(struct call *, void *request, struct err *);
