/* SPDX-License-Identifier: Apache-2.0 */
/* played_builder.c - one box and one program at a time. */
#include "played_builder.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct played_builder builder;

struct errand *
errand_start(struct order *order, const int *fds, size_t nfds, const struct errand_events *events,
    void *self, struct err *e)
{
	struct errand *errand = malloc(sizeof *errand);

	(void)e;
	assert_non_null(errand);
	*errand = (struct errand){ order->kind, *events, self };
	if (order->kind == ORDER_BOX)
		return builder.box = errand;
	assert_int_equal(nfds, ORDER_MAX_FDS);
	builder.control = fcntl(fds[2], F_DUPFD_CLOEXEC, 0);
	return builder.program = errand;
}

void
errand_kill(struct errand *errand)
{
	assert_ptr_equal(errand, builder.box);
	builder.kills++;
}

void
errand_signal(struct errand *errand, int number)
{
	assert_ptr_equal(errand, builder.program);
	builder.signal = number;
}

bool
errand_clock(struct errand *errand, uint64_t wall_ms, uint64_t cpu_ms)
{
	(void)cpu_ms;
	assert_ptr_equal(errand, builder.box);
	if (wall_ms > 0)
		builder.begun++;
	else
		builder.asked++;
	return !builder.deaf;
}

uint32_t
errand_id(const struct errand *errand)
{
	return errand->id;
}

uint32_t
workspace_id(const struct workspace *workspace)
{
	(void)workspace;
	return 1;
}
