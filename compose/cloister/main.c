/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cloister - the command: an MCP server for a desktop client, and the daemons behind it.
 *
 * Trusts the user who runs it, as identified by the kernel, and has no other privileges.
 */
#include "compose/cloister/audit.h"
#include "compose/cloister/call.h"
#include "compose/cloister/commands.h"
#include "compose/cloister/completion.h"
#include "compose/cloister/config/config.h"
#include "compose/cloister/copy.h"
#include "compose/cloister/doctor/doctor.h"
#include "compose/cloister/effective.h"
#include "compose/cloister/environment.h"
#include "compose/cloister/events.h"
#include "compose/cloister/history.h"
#include "compose/cloister/logs.h"
#include "compose/cloister/operator.h"
#include "compose/cloister/place.h"
#include "compose/cloister/policy.h"
#include "compose/cloister/run.h"
#include "compose/cloister/serve.h"
#include "compose/cloister/status.h"
#include "compose/cloister/top.h"
#include "compose/cloister/uninstall.h"
#include "compose/cloister/verify.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"
#include "common/daemon/starter.h"
#include "common/table/edges.h"
#include "common/table/man.h"
#include "common/table/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUMMARY \
	"cloister runs code that a language model wrote, so that it cannot harm this machine"

#define EXIT_CODES \
	"Exit codes of commands that call a tool: 0 success, 1 the tool failed, 2 wrong usage, " \
	"125 cloister failed. `cloister run` exits with the code of the program."

static int config_or_settings(int argc, char **argv);
static int make_keys(int argc, char **argv);
static int run_access(int argc, char **argv);
static int run_shell(int argc, char **argv);
static int show_help(int argc, char **argv);
static int show_man(int argc, char **argv);
static int show_version(int argc, char **argv);
static int start_daemon(int argc, char **argv);
static int verify(int argc, char **argv);

/* clang-format off */
/* NULL: operator_command() or call_command(). */
static int (*const functions[COMMAND_COUNT])(int argc, char **argv) = {
#define COMMAND(id, words, function, ...) [COMMAND_##id] = function,
#define PART(...)
#define END(id)
#define ABSENT(...)
#include "compose/cloister/commands.def"
};
/* clang-format on */

/* argv[0] is the command's name, from which the program knows its command. */
static int
become(const char *program, char **argv)
{
	char path[PLACE_PATH];
	struct err e;

	if (place_program(program, path, &e) == 0) {
		execv(path, argv);
		err_sys(&e, "start %s", path);
	}
	fprintf(stderr, "cloister: %s\n", e.text);
	return 1;
}

static int
config_or_settings(int argc, char **argv)
{
	return argc > 1 ? config_run(argc, argv) : effective_print(argc, argv);
}

static int
make_keys(int argc, char **argv)
{
	(void)argc;
	return become("cloister-keys", argv);
}

static int
run_access(int argc, char **argv)
{
	(void)argc;
	return become("cloister-access", argv);
}

static int
run_shell(int argc, char **argv)
{
	(void)argc;
	return become("cloister-shell", argv);
}

/* Only names of the table, so that no other program can be started. */
static int
start_daemon(int argc, char **argv)
{
	char program[64];

	for (enum peer peer = PEER_FIRST; argc > 1 && peer < PEER_COUNT; peer++) {
		if (strcmp(edge_peer_name(peer), argv[1]) != 0)
			continue;
		snprintf(program, sizeof program, "cloister-%s", argv[1]);
		argv[1] = program;
		return become(program, argv + 1);
	}
	fputs("usage: cloister daemon NAME [setting...]; NAME is one of", stderr);
	for (enum peer peer = PEER_FIRST; peer < PEER_COUNT; peer++)
		fprintf(stderr, " %s", edge_peer_name(peer));
	fputs("\n", stderr);
	return 2;
}

/* auditd knows the form of its log. */
static int
verify_log(int argc, char **argv)
{
	auto_free char **all = calloc((size_t)argc + 2, sizeof *all);

	if (all == NULL) {
		fputs("cloister: out of memory\n", stderr);
		return 1;
	}
	all[0] = argv[0];
	all[1] = (char[]){ "--verify" };
	memcpy(all + 2, argv + 1, ((size_t)argc - 1) * sizeof *all);
	return become("cloister-auditd", all);
}

static int
verify(int argc, char **argv)
{
	static const char *const flags[] = { "--since", "--key" };
	const char *values[COUNT(flags)];
	auto_free char *since = NULL, *key = NULL;
	char **const joined[] = { &since, &key };
	struct err e;

	/* A value may follow its flag as a word of its own: both programs read them joined. */
	for (size_t i = 0; i < COUNT(flags); i++) {
		if (words_take(&argc, argv, flags[i], &values[i], &e) < 0)
			return words_fail(&commands[COMMAND_verify], &e);
		must(values[i] == NULL || asprintf(joined[i], "%s=%s", flags[i], values[i]) >= 0);
	}

	auto_free char **all = calloc((size_t)argc + COUNT(flags) + 1, sizeof *all);

	must(all != NULL);
	memcpy(all, argv, (size_t)argc * sizeof *all);
	for (size_t i = 0; i < COUNT(flags); i++)
		if (*joined[i] != NULL)
			all[argc++] = *joined[i];
	return since != NULL ? verify_log(argc, all) : verify_file(argc, all);
}

static int
show_version(int argc, char **argv)
{
	(void)argc, (void)argv;
	puts("cloister " CLOISTER_VERSION);
	return 0;
}

static int
show_help(int argc, char **argv)
{
	(void)argc, (void)argv;
	puts(SUMMARY ".\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		fputs("  cloister ", stdout);
		commands_print_usage(&commands[i], stdout);
		printf("\n        %s\n", commands[i].doc);
	}
	puts("\n" EXIT_CODES);
	return 0;
}

static void
man_settings_file(void)
{
	man_begin("cloister.yaml", "5", "settings of cloister's daemons");
	man_heading("DESCRIPTION");
	man_text("A YAML file with one mapping for each daemon. Each line is a setting of that "
		 "daemon, with underscores. "
		 "Flags and the environment override it. A daemon refuses to start if its section "
		 "has an unknown or out-of-range setting. The manual page of each daemon, for "
		 "example cloister-executor(8), lists its settings.");
	man_heading("EXAMPLES");
	puts(".Bd -literal\nexecutor:\n  max_concurrent: 8\ngateway:\n  toolsets: "
	     "core,monitor\n.Ed");
}

/* mdoc: the usage is printed as it is, so it must not begin with a dot or an apostrophe. */
static void
man_command(const struct command *c)
{
	fputs(".It Sy cloister ", stdout);
	commands_print_usage(c, stdout);
	putchar('\n');
	man_text(c->doc);
	for (const struct part *part = c->parts; part->name != NULL; part++)
		if (part->kind != PART_SET) {
			printf(".Pp\n.Sy %s %s\n", part->name, part->value);
			man_text(part->doc);
		}
}

static int
show_man(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "yaml") == 0) {
		man_settings_file();
		return 0;
	}
	man_begin("cloister", "1", SUMMARY);
	man_heading("COMMANDS");
	man_list();
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		man_command(&commands[i]);
	man_list_end();
	man_heading("EXIT STATUS");
	man_text(EXIT_CODES);
	puts(
	    ".Sh SEE ALSO\n.Xr cloister-gateway 8 , .Xr cloister-executor 8 , .Xr cloister.yaml 5");
	return 0;
}

static int
run_command(const struct command *c, int argc, char **argv)
{
	size_t id = (size_t)(c - commands);

	if (functions[id] != NULL)
		return functions[id](argc, argv);
	return message_operator(message_find(c->tool)) != PEER_none
	           ? operator_command(c, argc, argv)
	           : call_command(c, argc, argv);
}

int
main(int argc, char **argv)
{
	char help[] = "help", *none[] = { help, NULL };
	char **words = argc < 2 ? none : argv + 1;
	int nwords, count = argc < 2 ? 1 : argc - 1;
	struct err e;

	starter_settle();
	umask(077);
	if (serve_is_system(argc, argv))
		return serve_as_system(argc, argv);
	if (strcmp(words[0], "--help") == 0 || strcmp(words[0], "--version") == 0 ||
	    strcmp(words[0], "--man") == 0)
		words[0] += 2;

	const struct command *c = commands_find(count, words, &nwords, &e);

	if (c != NULL)
		return run_command(c, count - nwords + 1, words + nwords - 1);
	fprintf(stderr, "cloister: %s\n", e.text);
	return 2;
}
