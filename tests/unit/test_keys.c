/* SPDX-License-Identifier: Apache-2.0 */
/* test_keys.c - a directory of keys as operators have it: a mounted Secret or ordinary files. */
#include "scratch.h"

#include "common/bus/keys.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char base[] = "/tmp/keys-XXXXXX";
static char directory[sizeof base + 5];
static int at = -1;

static int
set_up(void **state)
{
	struct err e;

	(void)state;
	if (scratch_make(base) < 0)
		return -1;
	snprintf(directory, sizeof directory, "%s/keys", base);
	if (keys_make(directory, &e) < 0)
		return -1;
	at = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return at < 0 ? -1 : 0;
}

static int
tear_down(void **state)
{
	(void)state;
	close(at);
	return scratch_remove(base);
}

static enum err_code
load(struct keys *k, struct err *e)
{
	return keys_load(directory, PEER_executor, k, e) == 0 ? ERR_none : e->code;
}

/* name -> ..data/name, ..data -> ..1, as the kubelet lays a Secret out. */
static void
links_in_the_directory_are_followed(void **state)
{
	/* clang-format off */
	static const char *const names[] = { "executor.key",
#define PEER(name, ...) #name ".pub",
#include "common/table/peers.def"
	};
	/* clang-format on */
	struct keys before, after;
	struct err e;

	(void)state;
	assert_int_equal(load(&before, &e), ERR_none);
	assert_int_equal(mkdirat(at, "..1", 0755), 0);
	assert_int_equal(symlinkat("..1", at, "..data"), 0);
	for (size_t i = 0; i < COUNT(names); i++) {
		char inner[64], through[64];

		snprintf(inner, sizeof inner, "..1/%s", names[i]);
		snprintf(through, sizeof through, "..data/%s", names[i]);
		assert_int_equal(renameat(at, names[i], at, inner), 0);
		assert_int_equal(symlinkat(through, at, names[i]), 0);
	}
	if (load(&after, &e) != ERR_none)
		fail_msg("%s", e.text);
	assert_memory_equal(&before, &after, sizeof before);
	assert_int_equal(fchmodat(at, "..1/executor.key", 0644, 0), 0);
	assert_int_equal(load(&after, &e), ERR_denied); /* of the file, not of the link */
}

static void
links_out_of_it_are_not(void **state)
{
	struct keys k;
	struct err e;

	(void)state;
	assert_int_equal(renameat(at, "executor.key", at, "../elsewhere"), 0);
	assert_int_equal(symlinkat("../elsewhere", at, "executor.key"), 0);
	assert_int_equal(load(&k, &e), ERR_path_not_allowed);
	assert_non_null(strstr(e.text, "executor.key"));
}

static void
a_secret_is_for_few(void **state)
{
	static const struct {
		mode_t mode;
		enum err_code own, of_root;
	} cases[] = {
		{ 0400, ERR_none, ERR_none },
		{ 0600, ERR_none, ERR_none },
		{ 0440, ERR_denied, ERR_none },
		{ 0640, ERR_denied, ERR_none },
		{ 0660, ERR_denied, ERR_denied },
		{ 0604, ERR_denied, ERR_denied },
		{ 0644, ERR_denied, ERR_denied },
	};
	struct keys k;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(fchmodat(at, "executor.key", cases[i].mode, 0), 0);
		assert_int_equal(load(&k, &e), geteuid() == 0 ? cases[i].of_root : cases[i].own);
		if (geteuid() != 0)
			continue;
		assert_int_equal(fchownat(at, "executor.key", 1000, 0, 0), 0);
		assert_int_equal(load(&k, &e), cases[i].own);
		assert_int_equal(fchownat(at, "executor.key", 0, 0, 0), 0);
	}
}

/* A crash between the two files, or a secret deleted to have a new one, leaves no odd pair. */
static void
pairs_are_completed(void **state)
{
	struct keys before, after;
	struct err e;

	(void)state;
	assert_int_equal(load(&before, &e), ERR_none);
	assert_int_equal(unlinkat(at, "gateway.pub", 0), 0);
	assert_int_equal(keys_make(directory, &e), 0);
	assert_int_equal(load(&after, &e), ERR_none);
	assert_memory_equal(&before, &after, sizeof before);
	assert_int_equal(unlinkat(at, "gateway.pub", 0), 0);
	assert_int_equal(fdio_store(at, "gateway.pub", before.public, 40, 0644, &e), 0);
	assert_int_equal(keys_make(directory, &e), 0);
	assert_int_equal(load(&after, &e), ERR_none);
	assert_memory_equal(&before, &after, sizeof before);
	assert_int_equal(unlinkat(at, "executor.key", 0), 0);
	assert_int_equal(keys_make(directory, &e), 0);
	assert_int_equal(load(&after, &e), ERR_none);
	assert_string_not_equal(before.secret, after.secret);
	assert_string_not_equal(before.public, after.public);
}

#define keys_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		keys_test(links_in_the_directory_are_followed),
		keys_test(links_out_of_it_are_not),
		keys_test(pairs_are_completed),
		keys_test(a_secret_is_for_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
