/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cloister - the command: an MCP server for a desktop client, and the daemons behind it.
 *
 * Trusts the user who runs it and whom the kernel names as that user; holds nothing that they do
 * not have.
 */
#include "compose/cloister/config/config.h"
#include "compose/cloister/place.h"
#include "compose/cloister/run.h"
#include "compose/cloister/serve.h"
#include "compose/cloister/status.h"
#include "compose/cloister/verify.h"

#include "common/base/auto.h"
#include "common/daemon/starter.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_keys(int argc, char **argv);
static int run_access(int argc, char **argv);
static int show_help(int argc, char **argv);
static int show_version(int argc, char **argv);

static const struct {
	const char *name, *arguments, *doc;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "serve", "[setting...]",
	    "be an MCP server on stdin and stdout, for Claude Desktop and the like, or with "
	    "--transport=http one for many; starts the daemons where none run. Settings are those "
	    "of "
	    "cloister-gateway",
	    serve_run },
	{ "run", "[--json] [--language=NAME] FILE|-",
	    "run a program in a box, in Python or what the file's ending says; exits with its exit "
	    "code",
	    run_file },
	{ "up", "[--foreground]", "start the daemons and keep them running", status_up },
	{ "status", "[--json]", "show the daemons; exits 3 where nothing runs", status_show },
	{ "down", "", "stop the daemons", status_down },
	{ "config", "CLIENT [--write]",
	    "print, or put into its file, what a client needs to use this server: claude-desktop, "
	    "claude-code, cursor, vscode or codex; --help says more",
	    config_run },
	{ "keys", "FOLDER", "make a key pair for each daemon, for TCP endpoints", make_keys },
	{ "token", "add NAME|list|remove NAME",
	    "bearer tokens for HTTP; what is added is shown once and kept as a hash", run_access },
	{ "issuer", "fetch URL", "get the keys of the OAuth issuer whose tokens HTTP accepts",
	    run_access },
	{ "verify", "[--key=BASE64] FILE ARTIFACT.json|-",
	    "check that a downloaded file is what a run left, by its artifact as a result gave it; "
	    "--key: the public key that signs, otherwise this machine's",
	    verify_file },
	{ "version", "", "print the version", show_version },
	{ "help", "", "print this; a command's settings are printed by its --help", show_help },
};

/* argv[0] is the command's name, by which a program knows which of its commands it is. */
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
	puts("cloister runs code that a language model wrote so that it cannot harm this "
	     "machine.\n");
	for (size_t i = 0; i < COUNT(commands); i++)
		printf("  cloister %s %s\n        %s\n", commands[i].name, commands[i].arguments,
		    commands[i].doc);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *name = argc < 2 ? "help" : argv[1];

	starter_settle();
	umask(077);
	if (strcmp(name, "--help") == 0 || strcmp(name, "--version") == 0)
		name += 2;
	for (size_t i = 0; i < COUNT(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return commands[i].run(argc - (argc > 1), argv + (argc > 1));
	fprintf(stderr, "cloister: unknown command '%.64s'; `cloister help` lists them\n", name);
	return 2;
}
