/* SPDX-License-Identifier: Apache-2.0 */
/* test_doctor.c - each check of `cloister doctor` against a directory of the test. */
#include "scratch.h"

#include "compose/cloister/doctor/checks.h"
#include "compose/cloister/doctor/lookup.h"

#include "common/base/auto.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cmocka.h>

#define ISOLATION(layers, missing, by) \
	"{\"isolation\":{\"layers\":[" layers "],\"missing\":[" missing "],\"limits_by\":\"" by \
	"\"}}"
#define PYTHON(modules) \
	"{\"runtimes\":[{\"language\":\"python\",\"version\":\"Python 3\",\"path\":\"/p\"," \
	"\"environments\":[{\"name\":\"default\",\"modules\":[]},{\"name\":\"data\",\"modules\":" \
	"[" modules "]}]}]}"
#define HASH "\"sha256\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""

enum {
	PATH = 4096,
	USER = 1000,
	NOW_S = 1800000000, /* 2027-01-15 */
};

#define OK      DIAGNOSIS_ok
#define WEAKER  DIAGNOSIS_weaker
#define MISSING DIAGNOSIS_missing
#define UNKNOWN DIAGNOSIS_unchecked

static char base[] = "/tmp/cloister-doctor-XXXXXX";
static unsigned long long free_bytes;

int __wrap_statvfs(const char *path, struct statvfs *room);

int
__wrap_statvfs(const char *path, struct statvfs *room)
{
	(void)path;
	*room = (struct statvfs){ .f_frsize = 1, .f_bavail = free_bytes };
	return 0;
}

/* ---- a machine below the directory ---- */

static void
put(const char *name, const char *text, mode_t mode)
{
	char path[PATH];

	snprintf(path, sizeof path, "%s/%s", base, name);
	for (char *slash = path + sizeof base; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	unlink(path);

	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static int
set_up(void **state)
{
	(void)state;
	return scratch_make(base) < 0 || setenv("HOME", base, 1) < 0 ||
	       unsetenv("XDG_CONFIG_HOME") < 0 || unsetenv("CLAUDE_CONFIG_DIR") < 0 ||
	       unsetenv("CODEX_HOME") < 0;
}

static int
tear_down(void **state)
{
	(void)state;
	return scratch_remove(base);
}

/* Its paths are those of the directory; everything else is absent. */
static struct machine
machine(void)
{
	static char self[PATH], certificates[PATH];

	snprintf(self, sizeof self, "%s/bin/cloister", base);
	snprintf(certificates, sizeof certificates, "%s/bundle", base);
	return (struct machine){ .proc = base,
		.cgroup = base,
		.programs = base,
		.state = base,
		.certificates = certificates,
		.search = "/nowhere:",
		.self = self,
		.builder = "/b/cloister-builder",
		.uid = USER,
		.now_s = NOW_S,
		.credentials = base,
		.silent = "no daemons run" };
}

static void
expect(void (*check)(const struct machine *, struct diagnosis *), const struct machine *m,
    enum diagnosis_state wanted, const char *says)
{
	struct diagnosis d = { 0 };

	check(m, &d);
	if (d.state != wanted || strstr(d.text, says) == NULL)
		fail_msg("%s: %s, not %s: %s", diagnosis_names[d.state], d.text,
		    diagnosis_names[wanted], says);
}

/* ---- files ---- */

static void
reads_what_the_kernel_says(void **state)
{
	static const struct {
		void (*check)(const struct machine *, struct diagnosis *);
		const char *file, *text; /* NULL: it does not exist */
		uid_t uid;
		enum diagnosis_state wanted;
		const char *says;
	} cases[] = {
		{ kernel_version, "sys/kernel/osrelease", NULL, USER, MISSING, "cannot be read" },
		{ kernel_version, "sys/kernel/osrelease", "5.10.0-9-amd64\n", USER, MISSING,
		    "5.10" },
		{ kernel_version, "sys/kernel/osrelease", "6.1.0-18\n", USER, WEAKER, "6.1.0-18" },
		{ kernel_version, "sys/kernel/osrelease", "6.12.1\n", USER, OK, "Linux 6.12.1" },
		{ kernel_version, "sys/kernel/osrelease", "7.0\n", USER, OK, "7.0" },
		{ kernel_namespaces, "sys/user/max_user_namespaces", NULL, USER, MISSING,
		    "no user" },
		{ kernel_namespaces, "sys/user/max_user_namespaces", "0\n", USER, MISSING, "is 0" },
		{ kernel_namespaces, "sys/user/max_user_namespaces", "0\n", 0, WEAKER, "is 0" },
		{ kernel_namespaces, "sys/user/max_user_namespaces", "9\n", USER, OK, "up to 9" },
		{ kernel_clone, "sys/kernel/unprivileged_userns_clone", NULL, USER, OK, "allowed" },
		{ kernel_clone, "sys/kernel/unprivileged_userns_clone", "0\n", USER, MISSING,
		    "is 0" },
		{ kernel_clone, "sys/kernel/unprivileged_userns_clone", "0\n", 0, OK,
		    "not to these" },
		{ kernel_apparmor, "sys/kernel/apparmor_restrict_unprivileged_userns", NULL, USER,
		    OK, "does not" },
		{ kernel_apparmor, "sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", USER,
		    MISSING, "is 1" },
		{ kernel_apparmor, "sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", 0, OK,
		    "not these" },
		{ kernel_seccomp, "sys/kernel/seccomp/actions_avail", NULL, USER, MISSING,
		    "no filters" },
		{ kernel_seccomp, "sys/kernel/seccomp/actions_avail", "kill trap\n", USER, MISSING,
		    "lacks" },
		{ kernel_seccomp, "sys/kernel/seccomp/actions_avail", "kill_process errno\n", USER,
		    OK, "filters" },
		{ installed_shfmt, "shfmt", NULL, USER, WEAKER, "no program" },
		{ installed_shfmt, "shfmt", "", USER, OK, "/shfmt" },
		{ installed_shellcheck, "shellcheck", NULL, USER, WEAKER, "no program" },
		{ installed_npm, "npm", "", USER, OK, "/npm" },
		{ installed_certificates, "bundle", NULL, USER, WEAKER, "no file" },
		{ installed_certificates, "bundle", "", USER, WEAKER, "empty" },
		{ installed_certificates, "bundle", "PEM", USER, OK, "/bundle" },
		{ expiry_check, "tokens", NULL, USER, OK, "none" },
		{ expiry_check, "tokens", "nonsense", USER, WEAKER, "line 1" },
		{ expiry_check, "tokens", "{\"name\":\"a\"," HASH "}", USER, OK, "1, none" },
		{ expiry_check, "tokens", "{\"name\":\"a\",\"expires\":\"2027-01-10\"," HASH "}",
		    USER, WEAKER, "a ended 2027-01-10" },
		{ expiry_check, "tokens", "{\"name\":\"a\",\"expires\":\"2027-01-19\"," HASH "}",
		    USER, WEAKER, "a ends 2027-01-19" },
		{ expiry_check, "tokens", "{\"name\":\"a\",\"expires\":\"2027-02-19\"," HASH "}",
		    USER, OK, "1, none" },
	};
	char path[PATH];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct machine m = machine();

		m.uid = cases[i].uid;
		snprintf(path, sizeof path, "%s/%s", base, cases[i].file);
		unlink(path);
		if (cases[i].text != NULL)
			put(cases[i].file, cases[i].text, 0700);
		expect(cases[i].check, &m, cases[i].wanted, cases[i].says);
	}
}

static void
a_box_counts_more_than_a_setting(void **state)
{
	struct machine m = machine();

	(void)state;
	put("sys/kernel/unprivileged_userns_clone", "0\n", 0600);
	put("sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", 0600);
	m.info = json_loads(ISOLATION("\"user namespace\"", "", "rlimit"), 0, NULL);
	expect(kernel_clone, &m, OK, "not to these");
	expect(kernel_apparmor, &m, OK, "not these");
	json_decref(m.info);
}

static void
knows_landlocks_versions(void **state)
{
	static const enum diagnosis_state wanted[] = { WEAKER, WEAKER, WEAKER, WEAKER, WEAKER,
		WEAKER, OK, OK };

	(void)state;
	for (int abi = 0; abi < (int)COUNT(wanted); abi++) {
		struct machine m = machine();

		m.landlock = abi;
		expect(kernel_landlock, &m, wanted[abi], abi == 0 ? "not in this" : "ABI");
	}
}

static void
finds_a_delegated_cgroup(void **state)
{
	static const struct {
		const char *own, *group, *controllers;
		enum diagnosis_state wanted;
		const char *says;
	} cases[] = {
		{ "0::/a/b\n", "a/b", "cpu io memory pids", OK, "version 2, with" },
		{ "1:cpu:/x\n0::/a/b\n", "a", "cpu memory pids\n", OK, "version 2, with" },
		{ "0::/a/b\n", "a/b", "memory pids", WEAKER, "cpu is not" },
		{ "0::/a/b\n", "a/b", "memory cpuset", WEAKER, "memory and pids are not" },
		{ "0::/\n", "a/b", "cpu memory pids", WEAKER, "memory and pids are not" },
		{ "1:cpu:/a/b\n", "a/b", "cpu memory pids", WEAKER, "memory and pids are not" },
	};
	struct machine m = machine();
	char name[PATH];

	(void)state;
	put("cgroup.controllers", "cpuset", 0600);
	for (size_t i = 0; i < COUNT(cases); i++) {
		put("a/cgroup.controllers", "", 0600);
		put("a/b/cgroup.controllers", "", 0600);
		snprintf(name, sizeof name, "%s/cgroup.controllers", cases[i].group);
		put(name, cases[i].controllers, 0600);
		put("self/cgroup", cases[i].own, 0600);
		expect(delegation_check, &m, cases[i].wanted, cases[i].says);
	}
	snprintf(name, sizeof name, "%s/cgroup.controllers", base);
	unlink(name);
	expect(delegation_check, &m, WEAKER, "version 1, which");
	m.uid = 0;
	expect(delegation_check, &m, OK, "version 1");
}

static void
measures_the_disk(void **state)
{
	char deep[PATH];
	struct machine m = machine();

	(void)state;
	snprintf(deep, sizeof deep, "%s/not/yet", base);
	m.state = deep;
	free_bytes = 63ULL << 20;
	expect(disk_check, &m, MISSING, "63 MiB");
	free_bytes = 64ULL << 20;
	expect(disk_check, &m, WEAKER, "64 MiB");
	free_bytes = 1ULL << 30;
	expect(disk_check, &m, OK, "1024 MiB");
	snprintf(deep, sizeof deep, "%s/bundle/state", base);
	expect(disk_check, &m, MISSING, "Not a directory");
}

static void
finds_the_command_as_a_shell_does(void **state)
{
	char search[PATH], path[PATH];
	struct machine m = machine();

	(void)state;
	snprintf(search, sizeof search, "/nowhere:%s/other:%s/bin", base, base);
	m.search = search;
	put("bin/cloister", "", 0600);
	expect(lookup_check, &m, WEAKER, "no directory");
	put("bin/cloister", "", 0700);
	expect(lookup_check, &m, OK, "/bin/cloister");
	put("other/cloister", "", 0700);
	expect(lookup_check, &m, WEAKER, "another one");
	assert_true(lookup_find("", m.self, path, sizeof path));
	assert_false(lookup_find(search, "no-such-program", path, sizeof path));
	assert_false(lookup_find(search, base, path, sizeof path));
}

static void
judges_the_entries_of_clients(void **state)
{
	char text[PATH];
	struct machine m = machine();

	(void)state;
	put("bin/cloister", "", 0700);
	expect(entries_check, &m, WEAKER, "none of claude-desktop");
	put(".cursor/mcp.json", "// comment", 0600);
	expect(entries_check, &m, WEAKER, "the file of cursor");
	put(".cursor/mcp.json", "{\"mcpServers\":{\"cloister\":{\"url\":\"http://x/mcp\"}}}", 0600);
	expect(entries_check, &m, OK, "cursor");
	snprintf(text, sizeof text,
	    "[mcp_servers.cloister]\nargs = [\"serve\"]\ncommand = \"%s\"\n", m.self);
	put(".codex/config.toml", text, 0600);
	expect(entries_check, &m, OK, "cursor, codex");
	put(".codex/config.toml",
	    "[mcp_servers.cloister]\nurl = \"u\"\n[other]\ncommand = \"/x\"\n", 0600);
	expect(entries_check, &m, OK, "cursor, codex");
	put(".codex/config.toml", "[mcp_servers.cloister]\ncommand = \"/no/such\\u001b\"\n", 0600);
	expect(entries_check, &m, WEAKER, "codex starts /no/such");
	put(".cursor/mcp.json", "{\"mcpServers\":{\"cloister\":{\"command\":\"/gone\"}}}", 0600);
	expect(entries_check, &m, WEAKER, "cursor starts /gone");
}

/* ---- what daemons say ---- */

static void
believes_the_executor(void **state)
{
	static const struct {
		void (*check)(const struct machine *, struct diagnosis *);
		const char *info; /* NULL: no daemons run */
		enum diagnosis_state wanted;
		const char *says;
	} cases[] = {
		{ boxes_layers, NULL, UNKNOWN, "no daemons" },
		{ boxes_layers, ISOLATION("", "", "rlimit"), MISSING, "no box" },
		{ boxes_layers, ISOLATION("\"a\"", "\"b: why\",\"c\"", "rlimit"), WEAKER,
		    "1 in force, missing: b, c" },
		{ boxes_layers, ISOLATION("\"a\",\"b\"", "", "rlimit"), OK, "all 2" },
		{ boxes_uids, NULL, UNKNOWN, "no daemons" },
		{ boxes_uids, ISOLATION("", "\"own uid: why\"", ""), WEAKER, "share" },
		{ boxes_uids, ISOLATION("", "", ""), OK, "own" },
		{ delegation_check, ISOLATION("", "", "cgroup2"), OK, "cgroup2" },
		{ delegation_check, ISOLATION("", "\"cpu limit: why\"", "cgroup2"), WEAKER,
		    "not all" },
		{ delegation_check, ISOLATION("", "", "rlimit"), WEAKER, "no cgroup" },
		{ languages_python, NULL, UNKNOWN, "no daemons" },
		{ languages_python, "{\"runtimes\":[]}", MISSING, "no program" },
		{ languages_python, PYTHON(""), OK, "Python 3, /p" },
		{ languages_node, PYTHON(""), WEAKER, "no program" },
		{ languages_shell, PYTHON(""), WEAKER, "no program" },
		{ languages_data_science, NULL, UNKNOWN, "no daemons" },
		{ languages_data_science, "{\"runtimes\":[]}", UNKNOWN, "no Python" },
		{ languages_data_science, PYTHON("\"numpy\""), WEAKER,
		    "no numpy, pandas, scipy, matplotlib" },
		{ languages_data_science,
		    PYTHON("\"numpy\",\"pandas\",\"scipy\",\"matplotlib\",\"x\""), OK,
		    "environment data" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct machine m = machine();

		m.uid = 0;
		m.info = cases[i].info == NULL ? NULL : json_loads(cases[i].info, 0, NULL);
		expect(cases[i].check, &m, cases[i].wanted, cases[i].says);
		json_decref(m.info);
	}
}

static void
judges_daemons(void **state)
{
	static const struct {
		const char *status; /* NULL: none */
		enum diagnosis_state wanted;
		const char *says;
	} cases[] = {
		{ "[{\"name\":\"a\",\"ready\":true}]", OK, "all 1" },
		{ "[{\"name\":\"a\",\"ready\":true},{\"name\":\"b\"}]", WEAKER, "b is not ready" },
		{ "[{\"name\":\"b\"},{\"name\":\"a\",\"fault\":true,\"why\":\"w\"}]", MISSING,
		    "a is not ready: w" },
		{ "[{\"name\":\"a\",\"given_up\":true}]", MISSING, "a is not ready" },
	};
	struct machine m = machine();

	(void)state;
	expect(daemons_ready, &m, UNKNOWN, "no daemons");
	expect(daemons_build, &m, UNKNOWN, "no daemons");
	expect(daemons_settings, &m, OK, "every");
	m.running = true;
	expect(daemons_ready, &m, OK, "without a supervisor");
	for (size_t i = 0; i < COUNT(cases); i++) {
		m.status = json_pack("{s:o}", "daemons", json_loads(cases[i].status, 0, NULL));
		expect(daemons_ready, &m, cases[i].wanted, cases[i].says);
		json_decref(m.status);
	}
	m.refusing = (char[]){ "vault" };
	expect(daemons_settings, &m, MISSING, "vault refuses");
}

static void
knows_another_build(void **state)
{
	char link[PATH], old[PATH];
	struct machine m = machine();

	(void)state;
	m.running = true;
	m.status = json_pack("{s:i}", "pid", 7);
	put("7/cmdline", "", 0600);
	snprintf(link, sizeof link, "%s/7/exe", base);
	expect(daemons_build, &m, OK, "as this command");
	assert_int_equal(symlink(m.self, link), 0);
	expect(daemons_build, &m, OK, "as this command");
	unlink(link);
	snprintf(old, sizeof old, "%s (deleted)", m.self);
	assert_int_equal(symlink(old, link), 0);
	expect(daemons_build, &m, WEAKER, "(deleted)");
	m.differences = (char[]){ "executor has version 0.1" };
	expect(daemons_build, &m, WEAKER, "version 0.1");
	json_decref(m.status);
}

/* ---- the port ---- */

static const char *answer;

static void *
serve(void *given)
{
	int listener = *(int *)given;
	auto_fd int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	char question[512];

	if (fd >= 0 && recv(fd, question, sizeof question, 0) > 0)
		send(fd, answer, strlen(answer), MSG_NOSIGNAL);
	return NULL;
}

static void
expect_port(int *listener, struct machine *m, const char *text, enum diagnosis_state wanted)
{
	pthread_t thread;

	answer = text;
	assert_int_equal(pthread_create(&thread, NULL, serve, listener), 0);
	expect(port_check, m, wanted, wanted == OK ? "by cloister" : "another");
	pthread_join(thread, NULL);
}

static void
tells_whose_port_it_is(void **state)
{
	struct sockaddr_in where = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof where;
	char listen_at[64];
	struct machine m = machine();
	struct diagnosis six = { 0 };
	auto_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	expect(port_check, &m, UNKNOWN, "refuses");
	m.listen = (char[]){ "nonsense" };
	expect(port_check, &m, WEAKER, "not an address");
	m.listen = (char[]){ "[::1]:0" };
	port_check(&m, &six); /* not every machine has it */
	assert_non_null(strstr(six.text, m.listen));
	assert_null(strstr(six.text, "not an address"));
	m.listen = (char[]){ "127.0.0.1:0" };
	expect(port_check, &m, OK, "free");
	assert_int_equal(bind(fd, (struct sockaddr *)&where, size), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&where, &size), 0);
	snprintf(listen_at, sizeof listen_at, "127.0.0.1:%u", ntohs(where.sin_port));
	m.listen = listen_at;
	expect_port(&fd, &m, "HTTP/1.1 200 OK\r\n\r\nok\n", OK);
	expect_port(&fd, &m, "HTTP/1.1 404 Not Found\r\n\r\nok\n", WEAKER);
	expect_port(&fd, &m, "", WEAKER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_the_kernel_says),
		cmocka_unit_test(a_box_counts_more_than_a_setting),
		cmocka_unit_test(knows_landlocks_versions),
		cmocka_unit_test(finds_a_delegated_cgroup),
		cmocka_unit_test(measures_the_disk),
		cmocka_unit_test(finds_the_command_as_a_shell_does),
		cmocka_unit_test(judges_the_entries_of_clients),
		cmocka_unit_test(believes_the_executor),
		cmocka_unit_test(judges_daemons),
		cmocka_unit_test(knows_another_build),
		cmocka_unit_test(tells_whose_port_it_is),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
