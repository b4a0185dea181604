/* SPDX-License-Identifier: Apache-2.0 */
/* test_session_record.c - the records that remain when the executor is killed, and what the next
 * executor does with them. */
#include "executor/sandbox/workspace.h"

#include "session_setup.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void *fresh;

static void
take_fresh(void *self, struct workspace *workspace, const struct err *e)
{
	(void)self, (void)e;
	fresh = workspace;
}

static void
ready(void *self, struct workspace *workspace, const struct err *e)
{
	(void)self, (void)e;
	assert_non_null(workspace);
}

static void
enter(struct session_use *use, struct session *session, enum session_way way)
{
	struct err e;

	assert_int_equal(session_enter(session, way, use, &e), 0);
	session_wait(use);
}

static size_t
count_records(void)
{
	size_t n = 0;

	for (struct record *r = NULL; (r = record_next(r)) != NULL;)
		n++;
	return n;
}

/* What another life does until it is killed; it writes the ids of sessions into ids. */
static void
live_and_die(void (*life)(char (*ids)[SESSION_ID]), char (*ids)[SESSION_ID], size_t count)
{
	size_t size = count * sizeof *ids;
	int from[2], status;

	assert_int_equal(pipe(from), 0);

	pid_t pid = fork();

	if (pid == 0) {
		life(ids);
		if (write(from[1], ids, size) != (ssize_t)size)
			_exit(1);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(read(from[0], ids, size), size);
	close(from[0]);
	close(from[1]);
}

static void
three_sessions(char (*ids)[SESSION_ID])
{
	struct fake_call *c = fake_call(MSG_terminate_session, "carol");
	struct terminate_session ask = { .session_id = ids[2] };
	enum err_code code;
	struct session_use use = { .ready = ready };
	struct err e;

	create("ann", 60, ids[0]);
	create("bob", 0, ids[1]);
	create("carol", 0, ids[2]);
	enter(&use, find("ann", ids[0], &code), SESSION_RUN);
	must(session_sandbox(&use, false) != NULL);
	session_leave(&use);
	must(session_tools_on_terminate_session(&c->call, &ask, &e) == 0);
}

static void
is_there_in_the_next_life(void **state)
{
	char ids[3][SESSION_ID];
	enum err_code code;
	struct err e;
	auto_fd int fd = record_make(&e);

	(void)state;
	live_and_die(three_sessions, ids, COUNT(ids));
	assert_int_equal(record_take(fd, &e), 0);
	assert_int_equal(count_records(), 2);
	for (struct record *r = NULL; (r = record_next(r)) != NULL;) {
		assert_int_equal(session_resume(r, &e), 0);
		assert_int_equal(fake.adopted, r->workspace);
	}
	fake_make(NULL);
	fake_make(NULL);
	assert_int_equal(fake_count(event_session_resumed), 2);
	/* Whose it was, and nobody else's. */
	assert_int_equal(share_of(SHARE_WORKSPACES, "ann").bytes, (256 + 16) * LIMITS_MIB);
	assert_non_null(find("ann", ids[0], &code));
	assert_non_null(find("bob", ids[1], &code));
	assert_null(find("bob", ids[0], &code));
	assert_int_equal(code, ERR_not_found);
	assert_null(find("carol", ids[2], &code));
	assert_non_null(strstr(session_news(find("ann", ids[0], &code)), "lost"));
	assert_null(session_news(find("bob", ids[1], &code))); /* nothing had run in it */
	/* Its time goes on; what ends leaves no record. */
	fake_pass(59000);
	assert_non_null(find("ann", ids[0], &code));
	fake_pass(3000);
	assert_null(find("ann", ids[0], &code));
	assert_int_equal(count_records(), 1);
	session_end_all();
	assert_int_equal(count_records(), 0);
}

/* The first is killed while it is in use, the second before it was made. */
static void
one_that_is_restored(char (*ids)[SESSION_ID])
{
	struct create_session ask = { 0 };
	const struct workspace_limits limits = { 1, 1 };
	enum err_code code;
	struct session_use use = { .ready = ready };
	struct err e;

	create("ann", 60, ids[0]);
	enter(&use, find("ann", ids[0], &code), SESSION_HOLD);
	workspace_make(&limits, take_fresh, NULL);
	fake_make(NULL);
	session_swap(&use, fresh, &(struct share){ 0 });
	session_set_parent(find("ann", ids[0], &code), "a snapshot");
	fake_pass(70000);
	must(session_tools_on_create_session(
		 &fake_call(MSG_create_session, "ann")->call, &ask, &e) == 0);
}

static void
has_the_files_it_was_restored_to(void **state)
{
	char ids[1][SESSION_ID];
	enum err_code code;
	struct err e, lost;
	auto_fd int fd = record_make(&e);

	(void)state;
	live_and_die(one_that_is_restored, ids, COUNT(ids));
	assert_int_equal(record_take(fd, &e), 0);
	assert_int_equal(count_records(), 1);

	struct record *r = record_next(NULL);

	assert_int_equal(r->workspace, 2);
	assert_int_equal(session_resume(r, &e), 0);
	assert_string_equal(find("ann", ids[0], &code)->parent, "a snapshot");
	assert_int_equal(find("ann", ids[0], &code)->expires_ms, fake.now_ms + 60000);
	/* Where they are not there, neither is the session. */
	err_set(&lost, ERR_invalid_argument, "workspace 2 was not left");
	fake_make(&lost);
	assert_null(find("ann", ids[0], &code));
	assert_int_equal(fake_count(event_session_killed), 1);
	assert_int_equal(count_records(), 0);
}

/* A record that no build of this writes: one of its texts has no end. */
static void
refuses_without_end(size_t offset, size_t size)
{
	struct err e;
	auto_fd int fd = record_make(&e);
	struct record *r = record_new();

	assert_non_null(r);
	*r = (struct record){ .id = "sess_1_0123456789abcdef0123456789abcdef",
		.owner = { "ann", "" },
		.workspace = 1 };
	record_commit(r);
	assert_int_equal(record_take(fd, &e), 0);
	r = record_next(NULL);
	memset((char *)r + offset, 'a', size);
	assert_int_equal(record_take(fd, &e), -1);
}

static void
believes_no_other_table(void **state)
{
	struct err e;
	auto_fd int good = record_make(&e);
	auto_fd int loose = memfd_create("loose", MFD_CLOEXEC);
	auto_fd int file = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct stat st;
	struct record *r;

	(void)state;
	assert_int_equal(fstat(good, &st), 0);
	assert_int_equal(ftruncate(loose, st.st_size), 0);
	assert_int_equal(record_take(loose, &e), -1); /* could shrink below who reads it */
	assert_int_equal(record_take(file, &e), -1);
	assert_int_equal(ftruncate(good, 0), -1);
	refuses_without_end(offsetof(struct record, owner.principal), OWNER_PRINCIPAL);
	refuses_without_end(offsetof(struct record, owner.namespace), OWNER_NAMESPACE);
	close(record_make(&e));
	/* Nor are texts cut short. */
	r = record_new();
	assert_false(record_text(r->namespace, sizeof r->namespace,
	    "0123456789012345678901234567890123456789012345678901234567890123456789"));
	assert_true(record_text(r->namespace, sizeof r->namespace, "abc"));
	assert_true(record_text(r->namespace, sizeof r->namespace, NULL));
	assert_string_equal(r->namespace, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_there_in_the_next_life, begin, end),
		cmocka_unit_test_setup_teardown(has_the_files_it_was_restored_to, begin, end),
		cmocka_unit_test_setup_teardown(believes_no_other_table, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
