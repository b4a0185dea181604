/* SPDX-License-Identifier: Apache-2.0 */
/* clients.c - one row for each client; the environment belongs to the user and is trusted. */
#include "compose/cloister/config/clients.h"

#include "compose/cloister/config/edit.h"
#include "compose/cloister/config/line.h"

#include "common/base/auto.h"

#include <pwd.h>
#include <string.h>

static void claude_command(
    const cJSON *entry, const struct reach_by *, bool project, struct line *);
static void codex_command(const cJSON *entry, const struct reach_by *, bool project, struct line *);
static void claude_removal(bool project, struct line *);
static void codex_removal(bool project, struct line *);

/* clang-format off */
static const struct client clients[] = {
	{ .name = "claude-desktop", .title = "Claude Desktop", .section = "mcpServers",
	  .variable = "XDG_CONFIG_HOME", .directory = ".config", .file = "Claude/claude_desktop_config.json",
	  .programs_only = true,
	  .after = "quit Claude Desktop and start it again" },
	{ .name = "claude-code", .title = "Claude Code", .section = "mcpServers",
	  .variable = "CLAUDE_CONFIG_DIR", .directory = "", .file = ".claude.json", .project = ".mcp.json",
	  .typed = true, .token = "${",
	  .command = claude_command, .removal = claude_removal,
	  .hint = "`claude mcp remove cloister` removes an earlier entry",
	  .after = "start claude again; `/mcp` in it shows the server" },
	{ .name = "cursor", .title = "Cursor", .section = "mcpServers",
	  .variable = NULL, .directory = ".cursor", .file = "mcp.json", .project = ".cursor/mcp.json",
	  .token = "${env:",
	  .after = "enable the server in Cursor's settings, under MCP" },
	{ .name = "vscode", .title = "VS Code", .section = "servers",
	  .variable = "XDG_CONFIG_HOME", .directory = ".config", .file = "Code/User/mcp.json",
	  .project = ".vscode/mcp.json", .typed = true, .token = "${env:",
	  .after = "run `MCP: List Servers` in VS Code and start the server" },
	{ .name = "codex", .title = "Codex", .toml = true, .section = "mcp_servers",
	  .variable = "CODEX_HOME", .directory = ".codex", .file = "config.toml",
	  .command = codex_command, .removal = codex_removal,
	  .hint = "`codex mcp list` shows what it knows",
	  .after = "start codex again; `/mcp` in it shows the server" },
};
/* clang-format on */

const struct client *
clients_find(const char *name)
{
	for (const struct client *c = clients; c < clients + COUNT(clients); c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

const struct client *
clients_next(const struct client *c)
{
	c = c == NULL ? clients : c + 1;
	return c < clients + COUNT(clients) ? c : NULL;
}

void
clients_list(FILE *to)
{
	for (const struct client *c = clients; c < clients + COUNT(clients); c++)
		fprintf(to, "%s%s", c == clients ? "" : ", ", c->name);
}

/* ---- the client's file ---- */

static const char *
home(struct err *e)
{
	const char *given = getenv("HOME");

	if (given != NULL && *given == '/')
		return given;

	const struct passwd *user = getpwuid(geteuid());

	if (user != NULL && user->pw_dir[0] == '/')
		return user->pw_dir;
	err_set(e, ERR_not_found, "no home directory is known; set HOME");
	return NULL;
}

static char *
join(const char *directory, const char *middle, const char *file, struct err *e)
{
	char *path;

	if (asprintf(&path, "%s/%s%s%s", directory, middle, *middle ? "/" : "", file) >= 0)
		return path;
	err_sys(e, "path");
	return NULL;
}

static char *
project_path(const struct client *c, struct err *e)
{
	auto_free char *here = getcwd(NULL, 0);

	if (c->project == NULL)
		err_set(e, ERR_invalid_argument, "%s has no file for a project; omit --project",
		    c->title);
	else if (here == NULL)
		err_sys(e, "current directory");
	else
		return join(here, "", c->project, e);
	return NULL;
}

char *
clients_path(const struct client *c, bool project, struct err *e)
{
	if (project)
		return project_path(c, e);

	const char *directory = c->variable == NULL ? NULL : getenv(c->variable);

	if (directory != NULL && *directory == '/')
		return join(directory, "", c->file, e);
	directory = home(e);
	return directory == NULL ? NULL : join(directory, c->directory, c->file, e);
}

/* ---- the entry ---- */

static void
add_text(cJSON *object, const char *key, const char *text)
{
	must(cJSON_AddStringToObject(object, key, text) != NULL);
}

static void
add_program(cJSON *entry, const struct client *c, const struct reach_by *by)
{
	if (c->typed)
		add_text(entry, "type", "stdio");
	add_text(entry, "command", by->program);

	cJSON *arguments = cJSON_AddArrayToObject(entry, "args");

	cJSON_AddItemToArray(arguments, cJSON_CreateString("serve"));
	for (char *const *argument = by->arguments; *argument != NULL; argument++)
		cJSON_AddItemToArray(arguments, cJSON_CreateString(*argument));
}

static void
add_url(cJSON *entry, const struct client *c, const struct reach_by *by)
{
	auto_free char *header = NULL;

	if (c->typed)
		add_text(entry, "type", "http");
	add_text(entry, "url", by->url);
	if (by->token_variable == NULL)
		return;
	if (c->token == NULL) {
		add_text(entry, "bearer_token_env_var", by->token_variable);
		return;
	}
	must(asprintf(&header, "Bearer %s%s}", c->token, by->token_variable) > 0);
	add_text(cJSON_AddObjectToObject(entry, "headers"), "Authorization", header);
}

cJSON *
clients_entry(const struct client *c, const struct reach_by *by, struct err *e)
{
	if (by->url != NULL && c->programs_only) {
		err_set(e, ERR_invalid_argument,
		    "the file of %s lists programs only; omit --http, or add the URL as a "
		    "connector in its settings",
		    c->title);
		return NULL;
	}

	cJSON *entry = cJSON_CreateObject();

	must(entry != NULL);
	if (by->url != NULL)
		add_url(entry, c, by);
	else
		add_program(entry, c, by);
	return entry;
}

static void
print_toml(const struct client *c, const cJSON *entry, FILE *to)
{
	const cJSON *value;

	fprintf(to, "[%s.cloister]\n", c->section);
	cJSON_ArrayForEach(value, entry)
	{
		/* Strings without control characters, and arrays of them, are the same in JSON
		 * and TOML. */
		auto_free char *text = cJSON_PrintUnformatted(value);

		must(text != NULL);
		fprintf(to, "%s = %s\n", value->string, text);
	}
}

void
clients_print(const struct client *c, const cJSON *entry, FILE *to)
{
	if (c->toml) {
		print_toml(c, entry, to);
		return;
	}

	auto_cjson cJSON *root = cJSON_CreateObject();
	cJSON *section = cJSON_AddObjectToObject(root, c->section);

	must(cJSON_AddItemReferenceToObject(section, "cloister", (cJSON *)entry));

	auto_free char *text = cJSON_Print(root);

	must(text != NULL);
	fprintf(to, "%s\n", text);
}

/* ---- the client's own command ---- */

static void
claude_command(const cJSON *entry, const struct reach_by *by, bool project, struct line *line)
{
	auto_free char *text = cJSON_PrintUnformatted(entry);

	(void)by;
	must(text != NULL);
	line_add(line, "claude");
	line_add(line, "mcp");
	line_add(line, "add-json");
	line_add(line, "--scope");
	line_add(line, project ? "project" : "user");
	line_add(line, "cloister");
	line_add(line, text);
}

static void
codex_command(const cJSON *entry, const struct reach_by *by, bool project, struct line *line)
{
	(void)entry;
	(void)project;
	line_add(line, "codex");
	line_add(line, "mcp");
	line_add(line, "add");
	line_add(line, "cloister");
	line_add(line, by->url != NULL ? "--url" : "--");
	line_add(line, by->url != NULL ? by->url : by->program);
	if (by->token_variable != NULL) {
		line_add(line, "--bearer-token-env-var");
		line_add(line, by->token_variable);
	}
	if (by->url != NULL)
		return;
	line_add(line, "serve");
	for (char *const *argument = by->arguments; *argument != NULL; argument++)
		line_add(line, *argument);
}

static void
add_words(struct line *line, const char *const *words)
{
	for (; *words != NULL; words++)
		line_add(line, *words);
}

static void
claude_removal(bool project, struct line *line)
{
	add_words(line, (const char *const[]){ "claude", "mcp", "remove", "--scope",
			    project ? "project" : "user", "cloister", NULL });
}

static void
codex_removal(bool project, struct line *line)
{
	(void)project;
	add_words(line, (const char *const[]){ "codex", "mcp", "remove", "cloister", NULL });
}
