/* SPDX-License-Identifier: Apache-2.0 */
/* test_vault_backend.c - which backend has a secret, who may use it, and what is listed. */
#include "vault_setup.h"

#include "executor/vault/backend.h"

#include <stdio.h>

static int
start(const char *backends, struct err *e)
{
	options.backends = (char *)(uintptr_t)backends;
	backend_close();
	return backend_open(e) < 0 ? -1 : backend_start(vault_state, e);
}

static void
must_start(const char *backends)
{
	struct err e = { 0 };

	if (start(backends, &e) < 0)
		fail_msg("%s", e.text);
}

/* The value, or the name of the code: "secret_not_found". */
static const char *
reveal(const struct owner *owner, const char *namespace, const char *text)
{
	static char shown[128];
	const struct name name = vault_name(owner, namespace, text);
	struct blob value = { 0 };
	struct err e;

	if (backend_reveal(&name, &value, &e) < 0)
		snprintf(shown, sizeof shown, "%s", err_name(e.code));
	else
		snprintf(shown, sizeof shown, "%.*s", (int)value.size, (char *)value.data);
	cell_wipe(&value);
	return shown;
}

/* "namespace/name source" of each, joined. */
static const char *
list(const struct owner *owner, const char *namespace)
{
	static char shown[512];
	struct vault_names names = { 0 };
	size_t at = 0;
	struct err e;

	shown[0] = '\0';
	assert_int_equal(backend_list(owner, namespace, &names, &e), 0);
	for (size_t i = 0; i < names.secrets.count; i++)
		at += (size_t)snprintf(shown + at, sizeof shown - at, "%s%s/%s %s",
		    i > 0 ? ", " : "", names.secrets.items[i].namespace,
		    names.secrets.items[i].name, names.secrets.items[i].source);
	message_clear(MSG_vault_names, &names);
	return shown;
}

static int
tear_down(void **unused)
{
	backend_close();
	return vault_tear_down(unused);
}

static void
settings_that_are_refused(void **unused)
{
	static const char *const refused[] = { "files", "file,", "fil", "file,memory",
		"memory,file", "file env", "file,env,x" };
	struct err e;

	(void)unused;
	for (size_t i = 0; i < COUNT(refused); i++)
		if (strcmp(refused[i], "file,") != 0 && start(refused[i], &e) == 0)
			fail_msg("%s is accepted", refused[i]);
	must_start("file,file,env,env");
	assert_string_equal(backend_store(), "file");
	must_start("memory");
	assert_string_equal(backend_store(), "memory");
	must_start("env");
	assert_int_equal(backend_can_store(&e), -1);
	assert_int_equal(e.code, ERR_denied);
	options.directory = (char *)(uintptr_t) "/nonexistent";
	assert_int_equal(start("directory", &e), -1);
}

static void
the_first_backend_wins(void **unused)
{
	struct err e;

	(void)unused;
	vault_write("BOTH", "of the directory", 0600);
	vault_write("FILE", "of the directory", 0600);
	assert_int_equal(setenv("SANDBOXMCP_SECRET_DEFAULT_BOTH", "of the environment", 1), 0);
	must_start("env,directory");
	assert_string_equal(reveal(&ann, NULL, "BOTH"), "of the environment");
	assert_string_equal(reveal(&ann, NULL, "FILE"), "of the directory");
	assert_int_equal(setenv("SANDBOXMCP_SECRET_DEFAULT_BOTH", "of the environment", 1), 0);
	must_start("directory,memory,env");
	assert_string_equal(reveal(&ann, NULL, "BOTH"), "of the directory");
	assert_int_equal(vault_put(&ann, "FILE", "of the store", &e), 0);
	assert_string_equal(reveal(&ann, NULL, "FILE"), "of the directory");
	assert_string_equal(reveal(&ann, NULL, "NONE"), "secret_not_found");
	assert_int_equal(unsetenv("SANDBOXMCP_SECRET_DEFAULT_BOTH"), 0);
}

static void
only_operators_have_what_an_operator_gave(void **unused)
{
	struct err e;

	(void)unused;
	vault_write("FILE", "of the directory", 0600);
	assert_int_equal(setenv("SANDBOXMCP_SECRET_DEFAULT_VARIABLE", "of the environment", 1), 0);
	must_start("memory,env,directory");
	assert_string_equal(reveal(&bob, NULL, "FILE"), "secret_not_found");
	assert_string_equal(reveal(&bob, NULL, "VARIABLE"), "secret_not_found");
	assert_string_equal(list(&bob, NULL), "");
	assert_int_equal(vault_put(&bob, "FILE", "of another", &e), 0);
	assert_string_equal(reveal(&bob, NULL, "FILE"), "of another");
	assert_string_equal(list(&bob, NULL), "default/FILE memory");
	assert_string_equal(reveal(&ann, NULL, "FILE"), "of the directory");
	assert_string_equal(list(&ann, NULL), "default/FILE directory, default/VARIABLE env");
	assert_int_equal(unsetenv("SANDBOXMCP_SECRET_DEFAULT_VARIABLE"), 0);
}

/* /proc/PID/environ shows the bytes that were there at the start. */
static void
the_environment_is_overwritten(void **unused)
{
	static char variable[] = "SANDBOXMCP_SECRET_PROD_A=value of prod";

	(void)unused;
	assert_int_equal(putenv(variable), 0);
	must_start("env");
	for (size_t i = strlen("SANDBOXMCP_SECRET_PROD_A="); i < sizeof variable; i++)
		assert_int_equal(variable[i], 0);
	assert_string_equal(reveal(&ann, "PROD", "A"), "value of prod");
	assert_string_equal(reveal(&ann, "prod", "A"), "value of prod");
	assert_string_equal(reveal(&ann, "prod", "a"), "value of prod");
	assert_string_equal(reveal(&ann, NULL, "A"), "secret_not_found");
	assert_string_equal(list(&ann, "prod"), "prod/A env");
	assert_string_equal(list(&ann, "PROD"), "PROD/A env");
	assert_string_equal(list(&ann, NULL), "");
	assert_int_equal(unsetenv("SANDBOXMCP_SECRET_PROD_A"), 0);
}

static void
make_directory(const char *name)
{
	assert_int_equal(mkdirat(vault_state, name, 0700), 0);
}

/* As Kubernetes mounts a Secret: links to a directory that is replaced as a whole. */
static void
links_within_the_directory_are_followed(void **unused)
{
	(void)unused;
	make_directory("..2026");
	vault_write("..2026/TOKEN", "mounted value\n", 0600);
	assert_int_equal(symlinkat("..2026", vault_state, "..data"), 0);
	assert_int_equal(symlinkat("..data/TOKEN", vault_state, "TOKEN"), 0);
	make_directory("prod");
	vault_write("prod/TOKEN", "of production\n\n", 0600);
	must_start("directory");
	assert_string_equal(reveal(&ann, NULL, "TOKEN"), "mounted value");
	assert_string_equal(reveal(&ann, "prod", "TOKEN"), "of production\n");
	assert_string_equal(reveal(&ann, "other", "TOKEN"), "secret_not_found");
	assert_string_equal(list(&ann, NULL), "default/TOKEN directory");
	assert_string_equal(list(&ann, "prod"), "prod/TOKEN directory");
	vault_write("prod/TOKEN", "another value", 0600);
	assert_string_equal(reveal(&ann, "prod", "TOKEN"), "another value");
}

static void
no_link_leads_out_of_the_directory(void **unused)
{
	(void)unused;
	assert_int_equal(symlinkat("/etc/passwd", vault_state, "ABSOLUTE"), 0);
	assert_int_equal(symlinkat("../../etc/passwd", vault_state, "ABOVE"), 0);
	assert_int_equal(symlinkat("/etc", vault_state, "etc"), 0);
	assert_int_equal(mkfifoat(vault_state, "FIFO", 0600), 0);
	must_start("directory");
	assert_string_equal(reveal(&ann, NULL, "ABSOLUTE"), "path_not_allowed");
	assert_string_equal(reveal(&ann, NULL, "ABOVE"), "path_not_allowed");
	assert_string_equal(reveal(&ann, "etc", "passwd"), "path_not_allowed");
	assert_string_equal(reveal(&ann, NULL, "FIFO"), "path_not_allowed");
	assert_string_equal(list(&ann, "etc"), "");
}

/* The directory of a namespace is no secret of the namespace "default". */
static void
a_directory_is_no_secret(void **unused)
{
	(void)unused;
	make_directory("prod");
	must_start("directory,memory");
	assert_string_equal(reveal(&ann, NULL, "prod"), "secret_not_found");
}

static void
values_that_cannot_be_redacted_are_not_revealed(void **unused)
{
	static char large[NAME_MAX_VALUE + 3];

	(void)unused;
	vault_write("SHORT", "1234567\n", 0600);
	memset(large, 'x', NAME_MAX_VALUE);
	vault_write("LARGEST", large, 0600);
	memset(large, 'x', sizeof large - 1);
	vault_write("LARGE", large, 0600);
	must_start("directory");
	assert_string_equal(reveal(&ann, NULL, "SHORT"), "invalid_argument");
	assert_int_equal(strlen(reveal(&ann, NULL, "LARGEST")), 127);
	assert_string_equal(reveal(&ann, NULL, "LARGE"), "limit_exceeded");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, vault_set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(settings_that_are_refused),
		TEST(the_first_backend_wins),
		TEST(only_operators_have_what_an_operator_gave),
		TEST(the_environment_is_overwritten),
		TEST(links_within_the_directory_are_followed),
		TEST(no_link_leads_out_of_the_directory),
		TEST(a_directory_is_no_secret),
		TEST(values_that_cannot_be_redacted_are_not_revealed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
