/* SPDX-License-Identifier: Apache-2.0 */
/* clients.c - one row a client; the environment is its user's, and so trusted. */
#include "compose/cloister/config/clients.h"

#include "common/base/auto.h"

#include <pwd.h>
#include <string.h>

/* clang-format off */
static const struct client clients[] = {
	{ .name = "claude-desktop", .title = "Claude Desktop", .section = "mcpServers",
	  .variable = "XDG_CONFIG_HOME", .folder = ".config", .file = "Claude/claude_desktop_config.json",
	  .programs_only = true,
	  .after = "quit Claude Desktop and start it again" },
	{ .name = "claude-code", .title = "Claude Code", .section = "mcpServers",
	  .variable = "CLAUDE_CONFIG_DIR", .folder = "", .file = ".claude.json", .project = ".mcp.json",
	  .typed = true, .token = "${",
	  .after = "start claude anew; `/mcp` in it shows the server" },
	{ .name = "cursor", .title = "Cursor", .section = "mcpServers", .comments = true,
	  .variable = NULL, .folder = ".cursor", .file = "mcp.json", .project = ".cursor/mcp.json",
	  .token = "${env:",
	  .after = "switch the server on in Cursor's settings, under MCP" },
	{ .name = "vscode", .title = "VS Code", .section = "servers", .comments = true,
	  .variable = "XDG_CONFIG_HOME", .folder = ".config", .file = "Code/User/mcp.json",
	  .project = ".vscode/mcp.json", .typed = true, .token = "${env:",
	  .after = "run `MCP: List Servers` in VS Code and start the server" },
	{ .name = "codex", .title = "Codex", .toml = true, .section = "mcp_servers",
	  .variable = "CODEX_HOME", .folder = ".codex", .file = "config.toml",
	  .after = "start codex anew; `/mcp` in it shows the server" },
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

void
clients_list(FILE *to)
{
	for (const struct client *c = clients; c < clients + COUNT(clients); c++)
		fprintf(to, "%s%s", c == clients ? "" : ", ", c->name);
}

/* ---- its file ---- */

static const char *
home(struct err *e)
{
	const char *given = getenv("HOME");

	if (given != NULL && *given == '/')
		return given;

	const struct passwd *user = getpwuid(geteuid());

	if (user != NULL && user->pw_dir[0] == '/')
		return user->pw_dir;
	err_set(e, ERR_not_found, "no home folder is known; set HOME");
	return NULL;
}

static char *
join(const char *folder, const char *middle, const char *file, struct err *e)
{
	char *path;

	if (asprintf(&path, "%s/%s%s%s", folder, middle, *middle ? "/" : "", file) >= 0)
		return path;
	err_sys(e, "path");
	return NULL;
}

static char *
project_path(const struct client *c, struct err *e)
{
	auto_free char *here = getcwd(NULL, 0);

	if (c->project == NULL)
		err_set(e, ERR_invalid_argument, "%s has no file of a project; leave --project out",
		    c->title);
	else if (here == NULL)
		err_sys(e, "current folder");
	else
		return join(here, "", c->project, e);
	return NULL;
}

char *
clients_path(const struct client *c, bool project, struct err *e)
{
	if (project)
		return project_path(c, e);

	const char *folder = c->variable == NULL ? NULL : getenv(c->variable);

	if (folder != NULL && *folder == '/')
		return join(folder, "", c->file, e);
	folder = home(e);
	return folder == NULL ? NULL : join(folder, c->folder, c->file, e);
}

/* ---- what it says ---- */

static json_t *
program_entry(const struct client *c, const struct reach_by *by)
{
	json_t *arguments = json_pack("[s]", "serve");

	for (char *const *argument = by->arguments; *argument != NULL; argument++)
		json_array_append_new(arguments, json_string(*argument));
	return json_pack("{s:s*, s:s, s:o}", "type", c->typed ? "stdio" : NULL, "command",
	    by->program, "args", arguments);
}

static json_t *
url_entry(const struct client *c, const struct reach_by *by)
{
	auto_free char *header = NULL;
	json_t *entry = json_pack("{s:s*, s:s}", "type", c->typed ? "http" : NULL, "url", by->url);

	if (by->token_variable == NULL)
		return entry;
	if (c->token == NULL) {
		json_object_set_new(entry, "bearer_token_env_var", json_string(by->token_variable));
		return entry;
	}
	must(asprintf(&header, "Bearer %s%s}", c->token, by->token_variable) > 0);
	json_object_set_new(entry, "headers", json_pack("{s:s}", "Authorization", header));
	return entry;
}

json_t *
clients_entry(const struct client *c, const struct reach_by *by, struct err *e)
{
	if (by->url != NULL && c->programs_only) {
		err_set(e, ERR_invalid_argument,
		    "the file of %s names programs only; leave --http out, or add the URL as a "
		    "connector in its settings",
		    c->title);
		return NULL;
	}

	json_t *entry = by->url != NULL ? url_entry(c, by) : program_entry(c, by);

	if (entry == NULL)
		err_set(e, ERR_invalid_argument,
		    "an argument or the path of this program is not UTF-8");
	return entry;
}
