/* SPDX-License-Identifier: Apache-2.0 */
/* played_builder.c - one box and one program at a time. */
#include "executor/sandbox/workspace.h"

#include "played_builder.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct played_builder builder;

struct builder_request *
builder_request_start(struct order *order, const int *fds, size_t nfds,
    const struct builder_request_events *events, void *self, struct err *e)
{
	struct builder_request *builder_request = malloc(sizeof *builder_request);

	(void)e;
	assert_non_null(builder_request);
	*builder_request = (struct builder_request){ order->kind, *events, self };
	if (order->kind == ORDER_BOX)
		return builder.box = builder_request;
	assert_int_equal(nfds, ORDER_MAX_FDS);
	builder.out = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
	builder.control = fcntl(fds[2], F_DUPFD_CLOEXEC, 0);
	return builder.program = builder_request;
}

void
builder_request_kill(struct builder_request *builder_request)
{
	assert_ptr_equal(builder_request, builder.box);
	builder.kills++;
}

void
builder_request_signal(struct builder_request *builder_request, int number)
{
	assert_ptr_equal(builder_request, builder.program);
	builder.signal = number;
}

bool
builder_request_clock(struct builder_request *builder_request, uint64_t wall_ms, uint64_t cpu_ms)
{
	(void)cpu_ms;
	assert_ptr_equal(builder_request, builder.box);
	if (wall_ms > 0)
		builder.begun++;
	else
		builder.asked++;
	return !builder.deaf;
}

bool
builder_request_count(struct builder_request *builder_request)
{
	assert_ptr_equal(builder_request, builder.box);
	builder.counted++;
	return !builder.deaf;
}

uint32_t
builder_request_id(const struct builder_request *builder_request)
{
	return builder_request->id;
}

uint32_t
workspace_id(const struct workspace *workspace)
{
	(void)workspace;
	return 1;
}
