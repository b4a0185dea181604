/* SPDX-License-Identifier: Apache-2.0 */
/* pool_setup.h - a pool of few boxes, for its tests. */
#pragma once

#include "fake.h"

#include "executor/options.h"
#include "executor/runtime.h"

enum {
	BASIC = 1,
	SCIENCE = 2,
	RUNS = 2, /* that the pool is ready for, */
	SESSIONS = 1,
	LEAST = RUNS + SESSIONS,
};

/* Makes all that was ordered, until nothing more is. */
static inline void
make_all(void)
{
	bool more = true;

	while (more) {
		more = fake_find(FAKE_WORKSPACE) != NULL;
		if (more)
			fake_make(NULL);
		while (fake_ready())
			more = true;
	}
}

/* Settings for so few boxes; the pool is not started. */
static inline int
set_up_pool(void)
{
	struct err e;

	fake_reset();
	if (fake_options(&e) < 0 || runtime_open(&e) < 0)
		return -1;
	options.pool_min = RUNS;
	options.pool_max = 16;
	return 0;
}
