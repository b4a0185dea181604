/* SPDX-License-Identifier: Apache-2.0 */
/* test_session.c - who owns a session, who may work in it, and how it ends. */
#include "executor/sandbox/workspace.h"
#include "executor/tools/limits_tools.h"
#include "session_setup.h"

#include <string.h>

/* A use of a session by the test. */
struct work {
	struct session_use use;
	struct workspace *workspace;
	unsigned ready, stopped;
	struct err why;
};

static void
ready(void *self, struct workspace *workspace, const struct err *e)
{
	struct work *work = self;

	work->ready++;
	work->workspace = workspace;
	if (workspace == NULL)
		work->why = *e;
}

static void
stop(void *self)
{
	((struct work *)self)->stopped++;
}

static int
enter(struct work *work, struct session *session, enum session_way way, struct err *e)
{
	*work = (struct work){ .use = { .ready = ready, .stop = stop, .self = work } };
	if (session_enter(session, way, &work->use, e) < 0)
		return -1;
	session_wait(&work->use);
	return 0;
}

static void
belongs_to_its_owner(void **state)
{
	char id[SESSION_ID], forged[SESSION_ID];
	enum err_code code;

	(void)state;
	create("ann", 0, id);
	assert_non_null(find("ann", id, &code));
	/* To another it is as one that never was. */
	assert_null(find("bob", id, &code));
	assert_int_equal(code, ERR_not_found);
	snprintf(forged, sizeof forged, "%s", id);
	forged[strlen(forged) - 1] = forged[strlen(forged) - 1] == '0' ? '1' : '0';
	assert_null(find("ann", forged, &code));
	assert_int_equal(code, ERR_not_found);
	assert_int_equal(fake_count(event_session_created), 1);
}

static void
stays_in_its_namespace(void **state)
{
	struct fake_call *c = fake_call(MSG_create_session, "ann");
	struct create_session ask = { 0 };
	struct session *session;
	struct err e;

	(void)state;
	strcpy(c->call.owner.namespace, "team");
	assert_int_equal(session_tools_on_create_session(&c->call, &ask, &e), 0);
	fake_make(NULL);
	session = session_find(&c->call, c->reply.session_created.session_id, &e);
	assert_non_null(session);
	static const char *const others[] = { "", "other", "tea", "team2" };
	char id[SESSION_ID];

	strcpy(id, session->id);
	for (size_t i = 0; i < COUNT(others); i++) {
		strcpy(c->call.owner.namespace, others[i]);
		assert_null(session_find(&c->call, id, &e));
		assert_int_equal(e.code, ERR_not_found);
	}
	session_end_all(); /* nor can be seen that there was one */
	assert_null(session_find(&c->call, id, &e));
	assert_int_equal(e.code, ERR_not_found);
	strcpy(c->call.owner.namespace, "team");
	assert_null(session_find(&c->call, id, &e));
	assert_int_equal(e.code, ERR_session_expired);
	fake_forget(c);
}

static void
knows_ids_of_an_earlier_life(void **state)
{
	char id[SESSION_ID];
	enum err_code code;

	(void)state;
	create("ann", 0, id);
	session_end_all();
	assert_null(find("ann", id, &code));
	assert_int_equal(code, ERR_session_expired);
	assert_null(find("bob", id, &code));
	assert_int_equal(code, ERR_not_found);
}

static void
refuses_what_is_no_id(void **state)
{
	static const char *const ids[] = { "", "x", "sess_", "sess_e1_", "sess_e1_00",
		"sess_e1_0123456789abcdef0123456789abcdeg",
		"sess_e1_0123456789ABCDEF0123456789abcdef",
		"sess__0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef",
		"sess_e1_0123456789abcdef0123456789abcdef\n",
		"sess_0123456789abcdef0123456789abcdef" };
	enum err_code code;

	(void)state;
	for (size_t i = 0; i < COUNT(ids); i++) {
		assert_null(find("ann", ids[i], &code));
		assert_int_equal(code, ERR_invalid_argument);
	}
	/* Another executor's. */
	assert_null(find("ann", "sess_e2_0123456789abcdef0123456789abcdef", &code));
	assert_int_equal(code, ERR_not_found);
}

static void
lets_in_who_may_be_together(void **state)
{
	/* rows: who is there; columns: who comes; READ, WRITE, RUN, HOLD */
	static const bool together[4][4] = {
		{ true, true, true, true },
		{ true, true, true, false },
		{ true, true, false, false },
		{ true, false, false, false },
	};
	char id[SESSION_ID];
	enum err_code code;
	struct err e;

	(void)state;
	create("ann", 0, id);
	for (int there = 0; there < 4; there++)
		for (int comes = 0; comes < 4; comes++) {
			struct session *session = find("ann", id, &code);
			struct work one, other;

			assert_int_equal(enter(&one, session, (enum session_way)there, &e), 0);
			assert_int_equal(enter(&other, session, (enum session_way)comes, &e),
			    together[there][comes] ? 0 : -1);
			if (!together[there][comes])
				assert_int_equal(e.code, ERR_session_busy);
			session_leave(&other.use);
			session_leave(&one.use);
		}
}

static void
expires_when_idle_only(void **state)
{
	char id[SESSION_ID];
	enum err_code code;
	struct work work;
	struct err e;

	(void)state;
	create("ann", 10, id);
	fake_pass(9000);
	assert_int_equal(enter(&work, find("ann", id, &code), SESSION_RUN, &e), 0);
	for (int i = 0; i < 20; i++)
		fake_pass(1000);
	assert_non_null(find("ann", id, &code));
	session_leave(&work.use);
	fake_pass(9000);
	assert_non_null(find("ann", id, &code));
	assert_int_equal(fake.workspaces, 1);
	fake_pass(2000);
	assert_null(find("ann", id, &code));
	assert_int_equal(code, ERR_session_expired);
	assert_int_equal(fake.workspaces, 0);
	assert_int_equal(fake_count(event_session_expired), 1);
}

static void
counts_sessions(void **state)
{
	struct create_session ask = { 0 };
	struct fake_call *c;
	char id[SESSION_ID];
	struct err e;

	(void)state;
	options.max_sessions = 3;
	options.max_sessions_each = 2;
	create("ann", 0, id);
	create("ann", 0, id);
	c = fake_call(MSG_create_session, "ann");
	assert_int_equal(session_tools_on_create_session(&c->call, &ask, &e), -1);
	assert_int_equal(e.code, ERR_session_limit);
	free(c);
	create("bob", 0, id);
	c = fake_call(MSG_create_session, "cid");
	assert_int_equal(session_tools_on_create_session(&c->call, &ask, &e), -1);
	assert_int_equal(e.code, ERR_session_limit);
	free(c);
	/* Nobody is nobody. */
	c = fake_call(MSG_create_session, "");
	assert_int_equal(session_tools_on_create_session(&c->call, &ask, &e), -1);
	assert_int_equal(e.code, ERR_unauthenticated);
	free(c);
}

static void
ends_when_what_runs_in_it_has_left(void **state)
{
	struct terminate_session ask = { 0 };
	struct fake_call *c = fake_call(MSG_terminate_session, "ann");
	char id[SESSION_ID];
	enum err_code code;
	struct work work;
	struct err e;

	(void)state;
	create("ann", 0, id);
	assert_int_equal(enter(&work, find("ann", id, &code), SESSION_RUN, &e), 0);
	ask.session_id = id;
	assert_int_equal(session_tools_on_terminate_session(&c->call, &ask, &e), 0);
	assert_int_equal(work.stopped, 1);
	assert_int_equal(c->ended, 0);
	assert_int_equal(fake.workspaces, 1);
	assert_null(find("ann", id, &code));
	session_leave(&work.use);
	assert_int_equal(fake.workspaces, 0);
	assert_string_equal(c->reply.session_status.status, "terminated");
	fake_forget(c);
	/* Again: it is as gone as it can be. */
	c = fake_call(MSG_terminate_session, "ann");
	assert_int_equal(session_tools_on_terminate_session(&c->call, &ask, &e), 0);
	fake_forget(c);
	assert_int_equal(fake_count(event_session_killed), 1);
}

static void
has_one_default_for_each(void **state)
{
	struct fake_call *ann = fake_call(MSG_sandbox_list_artifacts, "ann");
	struct fake_call *bob = fake_call(MSG_sandbox_list_artifacts, "bob");
	struct sandbox_close_session ask = { 0 };
	struct err e;
	bool made;

	(void)state;
	assert_null(session_main(&ann->call, NULL, &e));
	assert_int_equal(e.code, ERR_not_found);

	struct session *session = session_main(&ann->call, &made, &e);

	assert_true(made);
	assert_ptr_equal(session_main(&ann->call, &made, &e), session);
	assert_false(made);
	assert_null(session_main(&bob->call, NULL, &e));
	/* The same principal in another namespace is another owner. */
	strcpy(ann->call.owner.namespace, "other");
	assert_null(session_main(&ann->call, NULL, &e));
	strcpy(ann->call.owner.namespace, "");
	/* It can be closed while it is being made. */
	ann->call.message = MSG_sandbox_close_session;
	assert_int_equal(session_tools_on_sandbox_close_session(&ann->call, &ask, &e), 0);
	assert_int_equal(ann->ended, 0);
	fake_make(NULL);
	fake_forget(ann);
	free(bob);
}

static void
tells_when_it_cannot_be_made(void **state)
{
	struct create_session ask = { 0 };
	struct fake_call *c = fake_call(MSG_create_session, "ann");
	struct err e, no_room;

	(void)state;
	err_set(&no_room, ERR_unavailable, "no room");
	assert_int_equal(session_tools_on_create_session(&c->call, &ask, &e), 0);
	fake_make(&no_room);
	assert_int_equal(c->why.code, ERR_unavailable);
	fake_forget(c);
	assert_null(session_first());
	/* Nor without a record. */
	fake.spool_full = true;
	c = fake_call(MSG_create_session, "ann");
	assert_int_equal(session_tools_on_create_session(&c->call, &ask, &e), -1);
	assert_int_equal(e.code, ERR_unavailable);
	assert_null(session_first());
	fake.spool_full = false;
	free(c);
}

static void *fresh;

static void
take_fresh(void *self, struct workspace *workspace, const struct err *e)
{
	(void)self, (void)e;
	fresh = workspace;
}

static void
swaps_under_a_reader(void **state)
{
	const struct workspace_limits limits = { 1, 1 };
	struct work reader, holder, next;
	char id[SESSION_ID];
	enum err_code code;
	struct err e;

	(void)state;
	create("ann", 0, id);

	struct session *session = find("ann", id, &code);

	assert_int_equal(enter(&reader, session, SESSION_READ, &e), 0);
	assert_int_equal(enter(&holder, session, SESSION_HOLD, &e), 0);
	workspace_make(&limits, take_fresh, NULL);
	fake_make(NULL);
	session_swap(&holder.use, fresh, &(struct share){ 0 });
	session_leave(&holder.use);
	/* The old one lives for as long as it is read. */
	assert_int_equal(fake.workspaces, 2);
	assert_int_equal(enter(&next, session, SESSION_READ, &e), 0);
	assert_ptr_equal(next.workspace, fresh);
	session_leave(&reader.use);
	assert_int_equal(fake.workspaces, 1);
	session_leave(&next.use);
}

static void
refuses_what_is_beyond_it(void **state)
{
	static char strict[] = "strict,nonsense", cobol[] = "cobol";
	struct resource_limits much = { .max_disk_mb = 4096 };
	const struct {
		struct create_session ask;
		enum err_code code;
	} cases[] = {
		{ { .language = cobol }, ERR_invalid_argument },
		{ { .ttl = 86401 }, ERR_limit_exceeded },
		{ { .profile = strict }, ERR_invalid_argument },
		{ { .resource_limits = &much }, ERR_limit_exceeded },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fake_call *c = fake_call(MSG_create_session, "ann");
		struct create_session ask = cases[i].ask;

		assert_int_equal(session_tools_on_create_session(&c->call, &ask, &e), -1);
		assert_int_equal(e.code, cases[i].code);
		free(c);
	}
	assert_null(session_first());
}

static int
set_limits(const char *principal, char *session_id, struct resource_limits limits)
{
	struct set_resource_limits ask = { session_id, &limits };
	struct fake_call *c = fake_call(MSG_set_resource_limits, principal);
	struct err e = { 0 };
	int status = limits_tools_on_set_resource_limits(&c->call, &ask, &e);

	if (status == 0)
		fake_forget(c);
	else
		free(c);
	return status < 0 ? (int)e.code : 0;
}

static void
has_limits_of_its_owner(void **state)
{
	char ann[SESSION_ID], bob[SESSION_ID];
	enum err_code code;

	(void)state;
	create("ann", 0, bob);
	assert_int_equal(set_limits("ann", NULL, (struct resource_limits){ .max_ram_mb = 64 }), 0);
	assert_int_equal(find("ann", bob, &code)->limits.box.memory_bytes, 512 << 20);
	create("ann", 0, ann);
	create("bob", 0, bob);
	assert_int_equal(find("ann", ann, &code)->limits.box.memory_bytes, 64 << 20);
	assert_int_equal(find("bob", bob, &code)->limits.box.memory_bytes, 512 << 20);
	/* What its box was made with stays. */
	assert_int_equal(
	    set_limits("ann", ann, (struct resource_limits){ .timeout_seconds = 2 }), 0);
	assert_int_equal(find("ann", ann, &code)->limits.box.wall_ms, 2000);
	assert_int_equal(set_limits("ann", ann, (struct resource_limits){ .max_processes = 9 }),
	    ERR_invalid_argument);
	assert_int_equal(find("ann", ann, &code)->limits.box.processes, 512);
	assert_int_equal(set_limits("bob", ann, (struct resource_limits){ .timeout_seconds = 3 }),
	    ERR_not_found);
	assert_int_equal(set_limits("ann", NULL, (struct resource_limits){ .max_ram_mb = 9000 }),
	    ERR_limit_exceeded);
	/* Limits set in one namespace do not apply in another. */
	struct call elsewhere = { .owner = { "ann", "team" } };

	assert_int_equal(own_limits_of(&elsewhere.owner)->box.memory_bytes, 512 << 20);
	/* However many set some, few are kept: those that were used last. */
	for (int n = 0; n < 1024; n++) {
		char name[16];

		snprintf(name, sizeof name, "p%d", n);
		assert_int_equal(
		    set_limits(name, NULL, (struct resource_limits){ .max_ram_mb = 64 }), 0);
	}
	create("ann", 0, ann);
	assert_int_equal(find("ann", ann, &code)->limits.box.memory_bytes, 512 << 20);
	create("p1023", 0, ann);
	assert_int_equal(find("p1023", ann, &code)->limits.box.memory_bytes, 64 << 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(belongs_to_its_owner, begin, end),
		cmocka_unit_test_setup_teardown(stays_in_its_namespace, begin, end),
		cmocka_unit_test_setup_teardown(knows_ids_of_an_earlier_life, begin, end),
		cmocka_unit_test_setup_teardown(refuses_what_is_no_id, begin, end),
		cmocka_unit_test_setup_teardown(lets_in_who_may_be_together, begin, end),
		cmocka_unit_test_setup_teardown(expires_when_idle_only, begin, end),
		cmocka_unit_test_setup_teardown(counts_sessions, begin, end),
		cmocka_unit_test_setup_teardown(ends_when_what_runs_in_it_has_left, begin, end),
		cmocka_unit_test_setup_teardown(has_one_default_for_each, begin, end),
		cmocka_unit_test_setup_teardown(tells_when_it_cannot_be_made, begin, end),
		cmocka_unit_test_setup_teardown(swaps_under_a_reader, begin, end),
		cmocka_unit_test_setup_teardown(refuses_what_is_beyond_it, begin, end),
		cmocka_unit_test_setup_teardown(has_limits_of_its_owner, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
