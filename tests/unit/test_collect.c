/* SPDX-License-Identifier: Apache-2.0 */
/* test_collect.c - types, pictures and signatures of a run's files, and which of them are
 * stored. */
#include "fake.h"

#include "executor/session/collect.h"
#include "executor/session/ledger.h"
#include "executor/session/sign.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char digest[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

static struct execution run;
static struct collection collection;
static const struct owner owner = { "ann", "" };
static unsigned ended;

static int
setup(void **state)
{
	struct err e;

	(void)state;
	fake_reset();
	ended = 0;
	run = (struct execution){ .execution_id = strdup("exec_1") };
	assert_int_equal(fake_options(&e), 0);
	return sign_start(&e);
}

static int
teardown(void **state)
{
	(void)state;
	message_clear(MSG_execution, &run);
	return 0;
}

static void
add_file(const char *name, uint64_t size)
{
	struct artifact *a = list_add(&run.artifacts, sizeof *a);

	*a = (struct artifact){
		.filename = strdup(name),
		.path = strdup(name),
		.mime_type = strdup("application/octet-stream"),
		.sha256 = strdup(digest),
		.size = size,
	};
}

static void
add_rich(const char *type, const void *data, size_t size)
{
	struct rich *r = list_add(&run.rich, sizeof *r);

	*r = (struct rich){ .mime_type = strdup(type), .data = blob_copy(data, size) };
}

static void
collected(void *self, const struct err *e)
{
	assert_null(self);
	assert_null(e);
	ended++;
}

static void
start(void)
{
	struct err e;

	collection = (struct collection){
		.reply = &run,
		.owner = { &owner, NULL },
		.done = collected,
	};
	assert_int_equal(collect_settle(&collection, &e), 0);
	collect_start(&collection);
}

static void
nothing_takes_no_time(void **state)
{
	(void)state;
	start();
	assert_int_equal(ended, 1);
	assert_int_equal(fake.nwork, 0);
}

static void
pictures_come_back(void **state)
{
	struct err e;

	(void)state;
	err_set(&e, ERR_not_found, "gone");
	add_file("plot", 10);
	add_file("page.png", 10);
	add_file("large.png", COLLECT_PICTURE_BYTES + 1);
	add_file("gone.png", 10);
	add_file("vanishes.png", 10);
	start();
	fake_type("image/png", NULL);
	assert_string_equal(fake_find(FAKE_READ)->path, "plot");
	fake_read("bytes", NULL);
	fake_type("text/html", NULL);
	fake_type("image/png", NULL);
	assert_null(fake_find(FAKE_READ));
	fake_type(NULL, &e);
	assert_null(fake_find(FAKE_READ));
	fake_type("image/png", NULL);
	assert_int_equal(ended, 0);
	fake_read(NULL, &e);
	assert_int_equal(ended, 1);
	assert_int_equal(run.rich.count, 1);
	assert_string_equal(run.rich.items[0].name, "plot");
	assert_string_equal(run.rich.items[0].mime_type, "image/png");
	assert_int_equal(run.rich.items[0].data.size, 5);
	assert_string_equal(run.artifacts.items[1].mime_type, "text/html");
}

static void
a_figure_that_was_saved_comes_once(void **state)
{
	(void)state;
	add_rich("image/png", "figure", 6);
	add_rich("image/png", "other", 5);
	add_file("a.png", 6);
	add_file("b.png", 6);
	start();
	for (int i = 0; i < 2; i++) {
		fake_type("image/png", NULL);
		fake_read("figure", NULL);
	}
	assert_int_equal(ended, 1);
	assert_int_equal(run.rich.count, 3);
	assert_string_equal(run.rich.items[0].name, "a.png");
	assert_null(run.rich.items[1].name);
	assert_string_equal(run.rich.items[2].name, "b.png");
}

static void
pictures_are_no_more_than_eight(void **state)
{
	(void)state;
	add_rich("image/png", "figure", 6);
	for (int i = 0; i < COLLECT_PICTURES + 3; i++)
		add_file("p", 1);
	start();
	for (int i = 0; i < COLLECT_PICTURES + 3; i++) {
		fake_type("image/gif", NULL);
		if (fake_find(FAKE_READ) != NULL)
			fake_read("x", NULL);
	}
	assert_int_equal(ended, 1);
	assert_int_equal(run.rich.count, COLLECT_PICTURES);
}

/* It would be mended while everybody waits. */
static void
long_texts_are_utf8_or_left_out(void **state)
{
	static char text[1 << 20];
	const char *kept;

	(void)state;
	memset(text, 'x', sizeof text);
	add_rich("text/html", text, sizeof text);
	kept = run.rich.items[0].data.data;
	text[sizeof text - 1] = '\xff';
	add_rich("text/html", text, sizeof text);
	add_rich("text/html", text + sizeof text - 1000, 1000);
	text[sizeof text - 1] = 0;
	add_rich("text/html", text, sizeof text);
	start();
	assert_int_equal(run.rich.count, 2);
	assert_ptr_equal(run.rich.items[0].text.data, kept);
	assert_null(run.rich.items[0].data.data);
	assert_int_equal(run.rich.items[1].text.size, 1002);
	assert_int_equal(run.notes.count, 1);
}

static void
what_is_handed_over_is_bounded(void **state)
{
	static char large[COLLECT_PICTURE_BYTES + 1];

	(void)state;
	memset(large, 0xff, sizeof large);
	add_rich("text/html", "<b>\xff", 4);
	add_rich("image/png", large, sizeof large);     /* over the limit */
	add_rich("text/html", large, sizeof large / 2); /* three times that when mended */
	add_rich("image/jpeg", "j", 1);
	add_rich("application/x-other", "o", 1);
	for (int i = 0; i < 4; i++)
		add_rich("application/x-other", large, sizeof large - 1); /* the last: 16 MiB */
	start();
	assert_int_equal(ended, 1);
	assert_int_equal(run.rich.count, 6);
	assert_memory_equal(run.rich.items[0].text.data, "<b>\xef\xbf\xbd", 6);
	assert_null(run.rich.items[0].data.data);
	assert_string_equal(run.rich.items[1].mime_type, "image/jpeg");
	assert_int_equal(run.notes.count, 1);
	assert_non_null(strstr(run.notes.items[0], "left out"));
}

static void
every_file_is_signed(void **state)
{
	struct artifact *a;
	struct err e;

	(void)state;
	add_file("a%0Ab", 5);
	add_file("unread", 5);
	free(take_ptr(run.artifacts.items[1].sha256));
	start();
	fake_type("text/plain", NULL);
	fake_type("text/plain", NULL);
	a = run.artifacts.items;
	assert_int_equal(seal_verify(a, sign_public_key(), &e), 0);
	assert_null(a[1].signature);
	assert_int_equal(fake_count(event_artifact_signed), 1);

	auto_free char *statement = seal_statement(a, &e), *expected;

	assert_true(asprintf(&expected,
			"cloister artifact v1\nexecution exec_1\npath a%%0Ab\nsize 5\nsha256 %s\n"
			"type text/plain\ntime %s\n",
			digest, a->signed_at) > 0);
	assert_string_equal(statement, expected);
}

static void
no_word_of_it_can_be_changed(void **state)
{
	static char other[] = "x\ny";
	struct err e;

	(void)state;
	add_file("a", 5);
	start();
	fake_type("text/plain", NULL);

	const struct artifact good = run.artifacts.items[0];
	char **const words[] = { &run.artifacts.items[0].filename, &run.artifacts.items[0].sha256,
		&run.artifacts.items[0].mime_type, &run.artifacts.items[0].execution_id,
		&run.artifacts.items[0].signed_at, &run.artifacts.items[0].signature };

	for (size_t i = 0; i < COUNT(words); i++) {
		char *was = *words[i], flipped[256];

		snprintf(flipped, sizeof flipped, "%s", was);
		flipped[0] ^= 1;
		*words[i] = flipped;
		assert_int_equal(seal_verify(run.artifacts.items, sign_public_key(), &e), -1);
		*words[i] = NULL;
		assert_int_equal(seal_verify(run.artifacts.items, sign_public_key(), &e), -1);
		assert_int_equal(e.code, ERR_invalid_argument);
		*words[i] = other; /* two lines would be two statements */
		assert_int_equal(seal_verify(run.artifacts.items, sign_public_key(), &e), -1);
		assert_int_equal(e.code, ERR_invalid_argument);
		*words[i] = was;
	}
	run.artifacts.items[0].size++;
	assert_int_equal(seal_verify(run.artifacts.items, sign_public_key(), &e), -1);
	assert_int_equal(e.code, ERR_denied);
	run.artifacts.items[0] = good;
	assert_int_equal(seal_verify(run.artifacts.items, sign_public_key(), &e), 0);
	assert_int_equal(seal_verify(run.artifacts.items, "AAAA", &e), -1);
	assert_int_equal(e.code, ERR_invalid_argument);
}

static void
many_files_do_not_keep_it(void **state)
{
	enum { MANY = 500 };
	struct err e;

	(void)state;
	for (int i = 0; i < MANY; i++)
		add_file("t.csv", 1);
	start();
	for (int i = 0; i < 10; i++)
		fake_type("text/plain", NULL);
	fake_pass(COLLECT_TYPES_MS);
	fake_type("text/plain", NULL);
	assert_int_equal(ended, 1);
	assert_string_equal(run.artifacts.items[10].mime_type, "text/csv");
	assert_string_equal(run.artifacts.items[11].mime_type, "application/octet-stream");
	assert_int_equal(seal_verify(&run.artifacts.items[MANY - 1], sign_public_key(), &e), 0);
	assert_int_equal(fake_count(event_artifact_signed), 33);
}

/* ---- get_artifacts ---- */

static size_t
files_of(const char *principal, const char *namespace, char *execution_id, enum err_code *code)
{
	struct fake_call *c = fake_call(MSG_get_artifacts, principal);
	struct get_artifacts ask = { .request_id = execution_id };
	size_t count = 0;
	struct err e = { 0 };

	assert_true(owner_set(&c->call.owner, principal, namespace));
	if (ledger_on_get_artifacts(&c->call, &ask, &e) < 0)
		call_fail(&c->call, &e);
	else
		count = c->reply.list.artifacts.count;
	*code = e.code;
	fake_forget(c);
	return count;
}

static void
earlier_runs_are_kept(void **state)
{
	const struct owner ann = { "ann", "x" };
	enum err_code code;

	(void)state;
	add_file("a", 1);
	add_file("b", 1);
	ledger_keep(&ann, &run);
	assert_int_equal(files_of("ann", "x", run.execution_id, &code), 2);
	assert_int_equal(files_of("ann", "", run.execution_id, &code), 0);
	assert_int_equal(code, ERR_not_found);
	assert_int_equal(files_of("bob", "x", run.execution_id, &code), 0);
	assert_int_equal(code, ERR_not_found);
	assert_int_equal(files_of("ann", "y", run.execution_id, &code), 0);
	assert_int_equal(code, ERR_not_found);
}

static void
of_each_the_last_only(void **state)
{
	static char first[] = "exec_first", last[] = "exec_last", other[] = "exec_other";
	const struct owner ann = { "ann", "" };
	const struct owner bob = { "bob", "" };
	char *own = run.execution_id;
	enum err_code code;

	(void)state;
	add_file("a", 1);
	run.execution_id = other;
	ledger_keep(&bob, &run);
	for (int i = 0; i <= LEDGER_RUNS; i++) {
		run.execution_id = i == 0 ? first : last;
		ledger_keep(&ann, &run);
	}
	assert_int_equal(files_of("ann", "", first, &code), 0);
	assert_int_equal(files_of("ann", "", last, &code), 1);
	assert_int_equal(files_of("bob", "", other, &code), 1);
	run.execution_id = own;
}

static void
not_more_bytes_than_allowed(void **state)
{
	static char long_name[16001];
	static char big[] = "exec_big", small[] = "exec_small";
	const struct owner ann = { "ann", "" };
	char *own = run.execution_id;
	enum err_code code;

	(void)state;
	memset(long_name, 'n', sizeof long_name - 1);
	add_file("a", 1);
	run.execution_id = small;
	ledger_keep(&ann, &run);
	for (int i = 0; i < 100; i++)
		add_file(long_name, 1);
	run.execution_id = big;
	ledger_keep(&ann, &run);
	assert_int_equal(files_of("ann", "", big, &code), 0);
	assert_int_equal(files_of("ann", "", small, &code), 1);
	run.execution_id = own;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_takes_no_time, setup, teardown),
		cmocka_unit_test_setup_teardown(pictures_come_back, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    a_figure_that_was_saved_comes_once, setup, teardown),
		cmocka_unit_test_setup_teardown(pictures_are_no_more_than_eight, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_handed_over_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(long_texts_are_utf8_or_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(every_file_is_signed, setup, teardown),
		cmocka_unit_test_setup_teardown(no_word_of_it_can_be_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(many_files_do_not_keep_it, setup, teardown),
		cmocka_unit_test_setup_teardown(earlier_runs_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(of_each_the_last_only, setup, teardown),
		cmocka_unit_test_setup_teardown(not_more_bytes_than_allowed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
