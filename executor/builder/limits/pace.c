/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace.c - counts seccomp programs from the kill of their process until PACE_US after its end.
 *
 * The kernel frees a program between the two.  However long a killed process takes to end, all
 * programs freed in an interval of PACE_US are counted at the end of that interval, so PACE_MOST
 * bounds them.  Trusts the caller's clock to be monotonic.
 */
#include "executor/builder/limits/pace.h"

#include "common/base/must.h"

enum {
	STUCK_US = 10000, /* until the next check if no killed process has ended */
};

static void
forget_old(struct pace *p, int64_t now_us)
{
	while (p->count > 0 && p->until_us[p->first] <= now_us) {
		p->first = (p->first + 1) % PACE_MOST;
		p->count--;
	}
}

bool
pace_begin(struct pace *p, unsigned n, int64_t now_us)
{
	forget_old(p, now_us);
	if (n > 0 && p->dying + p->count + n > PACE_MOST)
		return false;
	p->dying += n;
	return true;
}

/* More processes can end by themselves than there is room for.  Then the oldest are dropped. */
static void
note(struct pace *p, int64_t until_us)
{
	if (p->count == PACE_MOST) {
		p->first = (p->first + 1) % PACE_MOST;
		p->count--;
	}
	p->until_us[(p->first + p->count++) % PACE_MOST] = until_us;
}

void
pace_end(struct pace *p, unsigned n, bool begun, int64_t now_us)
{
	must(!begun || p->dying >= n);
	p->dying -= begun ? n : 0;
	forget_old(p, now_us);
	for (; n > 0; n--)
		note(p, now_us + PACE_US);
}

int64_t
pace_wait_us(const struct pace *p, int64_t now_us)
{
	int64_t wait_us = p->count > 0 ? p->until_us[p->first] - now_us : STUCK_US;

	return wait_us > 0 ? wait_us : 0;
}
