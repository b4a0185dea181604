/* SPDX-License-Identifier: Apache-2.0 */
/* run_setup.h - shared by the tests of executions: an executor without boxes, and a call that
 * runs code. */
#pragma once

#include "fake.h"

#include "executor/options.h"
#include "executor/run/queue.h"
#include "executor/runtime.h"
#include "executor/session/session.h"
#include "executor/session/session_id.h"
#include "executor/tools/run_tools.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int
begin(void **state)
{
	static uint64_t validators;
	struct err e;

	(void)state;
	fake_reset();
	if (fake_options(&e) < 0 || runtime_open(&e) < 0)
		return -1;
	options.max_concurrent = 1;
	fake.counts.lost[PEER_validator] = ++validators; /* another process, without requests */
	return session_id_open(&e);
}

static int
end(void **state)
{
	(void)state;
	session_end_all();
	fake_bury();
	assert_int_equal(fake.boxes, 0);
	assert_int_equal(fake.programs, 0);
	assert_int_equal(fake.workspaces, 0);
	assert_int_equal(queue_counts()->running, 0);
	assert_int_equal(queue_counts()->waiting, 0);
	return 0;
}

/* Starts an execution; *ask is its code and is cleared. */
static struct fake_call *
start(struct execute_code ask)
{
	struct fake_call *c = fake_call(MSG_execute_code, "ann");
	struct err e;

	ask.code = blob_text("print(1)");
	ask.capture_output = true;
	if (run_tools_on_execute_code(&c->call, &ask, &e) < 0)
		call_fail(&c->call, &e);
	blob_clear(&ask.code);
	return c;
}

static struct box_end
ended_well(const char *out)
{
	return (struct box_end){ .out = blob_text(out), .err = blob_text(""), .wall_ms = 5 };
}
