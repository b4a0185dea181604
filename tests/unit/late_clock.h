/* SPDX-License-Identifier: Apache-2.0 */
/* late_clock.h - a clock that a test advances, and a count of the loop's turns; for programs
 * linked with the wrap of loop_now_us(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

static int64_t late_us; /* added at each read of the clock */
static unsigned turns;

int64_t __real_loop_now_us(void);
int64_t __wrap_loop_now_us(void);

int64_t
__wrap_loop_now_us(void)
{
	static int64_t passed_us;

	passed_us += late_us;
	return __real_loop_now_us() + passed_us;
}

static bool
count_turns(void *self)
{
	(void)self;
	turns++;
	return false;
}
