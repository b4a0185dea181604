/* SPDX-License-Identifier: Apache-2.0 */
/* session_setup.h - shared by the tests of sessions: an executor without boxes, and sessions
 * created through the tool. */
#pragma once

#include "fake.h"

#include "executor/options.h"
#include "executor/run/own_limits.h"
#include "executor/runtime.h"
#include "executor/tools/session_tools.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Creates a session through the tool; stores its id in id. */
static void
create(const char *principal, uint64_t ttl, char id[SESSION_ID])
{
	struct create_session ask = { .ttl = ttl };
	struct fake_call *c = fake_call(MSG_create_session, principal);
	struct err e;

	assert_int_equal(session_tools_on_create_session(&c->call, &ask, &e), 0);
	fake_make(NULL);
	assert_int_equal(c->why.code, ERR_none);
	snprintf(id, SESSION_ID, "%s", c->reply.session_created.session_id);
	fake_forget(c);
}

static struct session *
find(const char *principal, const char *id, enum err_code *code)
{
	struct fake_call *c = fake_call(MSG_sandbox_list_artifacts, principal);
	struct err e = { 0 };
	struct session *session = session_find(&c->call, id, &e);

	*code = e.code;
	free(c);
	return session;
}

static int
begin(void **state)
{
	struct err e;

	(void)state;
	fake_reset();
	if (fake_options(&e) < 0 || runtime_open(&e) < 0)
		return -1;
	return session_id_open(&e);
}

static int
end(void **state)
{
	(void)state;
	session_end_all();
	own_limits_forget();
	fake_bury();
	assert_int_equal(fake.workspaces, 0);
	return 0;
}
