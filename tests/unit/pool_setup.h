/* SPDX-License-Identifier: Apache-2.0 */
/* pool_setup.h - a pool of few boxes, for its tests. */
#pragma once

#include "fake.h"

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
