/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cloister - the command: an MCP server for a desktop client, and the daemons behind it.
 *
 * Trusts the user who runs it, as identified by the kernel, and has no other privileges.
 */
#include "compose/cloister/config/config.h"
#include "compose/cloister/place.h"
#include "compose/cloister/run.h"
#include "compose/cloister/serve.h"
#include "compose/cloister/status.h"
#include "compose/cloister/verify.h"

#include "common/base/auto.h"
#include "common/daemon/starter.h"
#include "common/table/man.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUMMARY \
	"cloister runs code that a language model wrote, so that it cannot harm this machine"

static int make_keys(int argc, char **argv);
static int run_access(int argc, char **argv);
static int show_help(int argc, char **argv);
static int show_man(int argc, char **argv);
static int show_version(int argc, char **argv);
static int verify(int argc, char **argv);

static const struct {
	const char *name, *arguments, *doc;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "serve", "[setting...]",
	    "MCP server on stdin and stdout for one client, or with --transport=http for many. "
	    "Starts the daemons if none run. Settings are those of cloister-gateway.",
	    serve_run },
	{ "run", "[--json] [--language=NAME] FILE|-",
	    "Run a program in a box, in Python or the language of the file's extension. Exits with "
	    "the program's exit code.",
	    run_file },
	{ "up", "[--foreground]", "Start the daemons and keep them running.", status_up },
	{ "status", "[--json]", "Show the daemons. Exits 3 if none run.", status_show },
	{ "down", "", "Stop the daemons.", status_down },
	{ "config", "CLIENT [--write]",
	    "Print or write the entry that a client needs to use this server: claude-desktop, "
	    "claude-code, cursor, vscode or codex. --help has details.",
	    config_run },
	{ "keys", "DIRECTORY", "Make a key pair for each daemon, for TCP endpoints.", make_keys },
	{ "token", "add NAME|list|remove NAME",
	    "Bearer tokens for HTTP. A new token is printed once and kept as a hash.", run_access },
	{ "issuer", "fetch URL", "Fetch the keys of the OAuth issuer whose tokens HTTP accepts.",
	    run_access },
	{ "verify", "[--key=BASE64] FILE ARTIFACT.json|-",
	    "Check a downloaded file against the signed artifact in the run's result. "
	    "--key: the public key of the signer; default: this machine's.",
	    verify },
	{ "verify", "LOG --since=CHECKPOINT|@FILE [--key=KEY|@FILE]",
	    "Check that an audit log still holds the records of a checkpoint, such as a result's "
	    "audit_checkpoint. --key: the public key of auditd; default: audit.pub beside the log.",
	    verify },
	{ "man", "[yaml]", "Print the manual page of this command, or of the settings file.",
	    show_man },
	{ "version", "", "Print the version.", show_version },
	{ "help", "", "Print this. A command's --help prints its settings.", show_help },
};

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
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--since=", strlen("--since=")) == 0)
			return verify_log(argc, argv);
	return verify_file(argc, argv);
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
	for (size_t i = 0; i < COUNT(commands); i++)
		printf("  cloister %s %s\n        %s\n", commands[i].name, commands[i].arguments,
		    commands[i].doc);
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

static int
show_man(int argc, char **argv)
{
	char tag[160];

	if (argc > 1 && strcmp(argv[1], "yaml") == 0) {
		man_settings_file();
		return 0;
	}
	man_begin("cloister", "1", SUMMARY);
	man_heading("COMMANDS");
	man_list();
	for (size_t i = 0; i < COUNT(commands); i++) {
		snprintf(
		    tag, sizeof tag, "cloister %s %s", commands[i].name, commands[i].arguments);
		man_item(tag);
		man_text(commands[i].doc);
	}
	man_list_end();
	puts(
	    ".Sh SEE ALSO\n.Xr cloister-gateway 8 , .Xr cloister-executor 8 , .Xr cloister.yaml 5");
	return 0;
}

int
main(int argc, char **argv)
{
	const char *name = argc < 2 ? "help" : argv[1];

	starter_settle();
	umask(077);
	if (strcmp(name, "--help") == 0 || strcmp(name, "--version") == 0 ||
	    strcmp(name, "--man") == 0)
		name += 2;
	for (size_t i = 0; i < COUNT(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return commands[i].run(argc - (argc > 1), argv + (argc > 1));
	fprintf(stderr, "cloister: unknown command '%.64s'; `cloister help` lists them\n", name);
	return 2;
}
