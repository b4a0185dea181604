/* SPDX-License-Identifier: Apache-2.0 */
/* test_index_hosts.c - indexes out of the configuration of pip, npm and apt below a directory. */
#include "executor/run/network/index_hosts.h"

#include "tests/unit/scratch.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

static char base[] = "/tmp/index_hosts.XXXXXX";

static void
put(const char *path, const char *text)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof full, "%s%s", base, path);
	for (char *at = full + strlen(base) + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		mkdir(full, 0700);
		*at = '/';
	}
	file = fopen(full, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int
set_up(void **state)
{
	static const char *const variables[] = { "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL",
		"NPM_CONFIG_REGISTRY", "npm_config_registry" };

	(void)state;
	for (size_t i = 0; i < COUNT(variables); i++)
		unsetenv(variables[i]);
	setenv("HOME", "/home/ann", 1);
	return scratch_make(base);
}

static int
tear_down(void **state)
{
	(void)state;
	return scratch_remove(base);
}

/* hosts: separated by blanks. */
static void
expect(enum index_kind kind, const char *url, const char *hosts)
{
	const struct texts *found = index_hosts_of(kind);
	char text[1024] = "";

	for (size_t i = 0; i < found->count; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? " " : "",
		    found->items[i]);
	assert_string_equal(text, hosts);
	if (url == NULL)
		assert_null(index_hosts_url(kind));
	else
		assert_string_equal(index_hosts_url(kind), url);
}

static void
settle(void)
{
	struct err e;

	if (index_hosts_settle(base, &e) < 0)
		fail_msg("%s", e.text);
}

static void
test_nothing_is_configured(void **state)
{
	(void)state;
	settle();
	for (enum index_kind kind = 0; kind < INDEX_COUNT; kind++)
		expect(kind, NULL, "");
}

static void
test_built_in(void **state)
{
	(void)state;
	put("/usr/lib/python3/dist-packages/pip/_internal/models/index.py",
	    "class PackageIndex:\n    # https://not.example\n\nPyPI = PackageIndex(\"https://"
	    "index.example/\", file_storage_domain=\"files.example\")\nTestPyPI = PackageIndex(\n"
	    "    \"https://test.example/\", file_storage_domain=\"more.example\"\n)\n");
	put("/usr/share/nodejs/npm/lib/utils/config/definitions.js",
	    "define('proxy', { default: 'http://not.example' })\n"
	    "define('registry', {\n  default: 'https://npm.example/',\n  type: url })\n");
	settle();
	expect(INDEX_pypi, "https://index.example", "files.example index.example");
	expect(INDEX_npm, "https://npm.example", "npm.example");
	/* A second index does not replace it. */
	put("/etc/pip.conf", "[global]\nextra-index-url = https://ours.example/simple\n");
	put("/etc/npmrc", "@ours:registry=https://ours.example:8443/npm/\n");
	settle();
	expect(INDEX_pypi, "https://index.example", "ours.example files.example index.example");
	expect(INDEX_npm, "https://npm.example", "ours.example:8443 npm.example");
	/* A first one does. */
	put("/etc/pip.conf", "[global]\nindex-url = https://ours.example/simple\n");
	put("/home/ann/.npmrc", "registry = https://ours.example/npm/\n");
	settle();
	expect(INDEX_pypi, "https://ours.example/simple", "ours.example");
	expect(INDEX_npm, "https://ours.example/npm", "ours.example ours.example:8443");
}

static void
test_formats(void **state)
{
	(void)state;
	put("/home/ann/.config/pip/pip.conf",
	    "[global]\n# index-url = https://no.example\ncert = https://no.example\nindex-url: "
	    "http://ann:secret@a.example:3141/simple/\nextra-index-url =\n    https://b.example/\n"
	    "    https://c.example\ntimeout = 3\n  https://no.example\n");
	put("/etc/pip.conf", "[global]\nindex-url = https://d.example/\n");
	put("/etc/npmrc", "; registry=https://no.example\n//no.example/:_authToken=secret\n"
			  "registry=\"https://n.example/\"\n");
	put("/etc/apt/sources.list",
	    "# deb http://no.example x\ndeb [signed-by=/x] http://e.example/debian bookworm main\n"
	    "deb-src http://f.example/debian bookworm main\n");
	put("/etc/apt/sources.list.d/x.sources",
	    "Types: deb\nURIs: http://e.example/debian\n https://g.example:8443/x\nSuites: y\n");
	settle();
	expect(INDEX_pypi, "http://a.example:3141/simple",
	    "a.example:3141 b.example c.example d.example");
	expect(INDEX_npm, "https://n.example", "n.example");
	expect(INDEX_debian, "http://e.example/debian", "e.example f.example g.example:8443");
}

static void
test_variables(void **state)
{
	(void)state;
	put("/etc/pip.conf", "[global]\nindex-url = https://d.example/\n");
	setenv("PIP_INDEX_URL", "https://u:p%40x@v.example/simple", 1);
	setenv("PIP_EXTRA_INDEX_URL", "https://w.example https://x.example", 1);
	settle();
	expect(INDEX_pypi, "https://v.example/simple", "v.example w.example x.example d.example");
}

static void
test_what_is_no_host(void **state)
{
	(void)state;
	put("/etc/pip.conf", "[global]\nindex-url = https://192.0.2.1/\nextra-index-url = "
			     "https:// http://:80/ https://a_b.example:x/ https://[::1]/ "
			     "https://last.example");
	settle();
	expect(INDEX_pypi, "https://192.0.2.1", "last.example");
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(nothing_is_configured),
		CASE(built_in),
		CASE(formats),
		CASE(variables),
		CASE(what_is_no_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
