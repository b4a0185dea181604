/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uninstall.c - undoes what quickstart and `cloister config --write` did, and lists what stays.
 *
 * It deletes no data and nothing that others may use: sessions' snapshots, the audit log, packages
 * of Debian, users.  A link is removed only if it leads to this program.
 */
#include "compose/cloister/uninstall.h"

#include "compose/cloister/commands.h"
#include "compose/cloister/config/config.h"
#include "compose/cloister/place.h"
#include "compose/cloister/status.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char system_link[] = "/usr/local/bin/cloister";

/* ---- links ---- */

/* As compose/quickstart makes them. */
static char *
user_link(void)
{
	const char *home = getenv("HOME");
	char *path = NULL;

	if (home != NULL)
		must(asprintf(&path, "%s/.local/bin/cloister", home) > 0);
	return path;
}

static int
remove_link(const char *path, const char *self)
{
	auto_free char *target = path != NULL ? realpath(path, NULL) : NULL;
	struct stat st;

	if (target == NULL || lstat(path, &st) < 0 || !S_ISLNK(st.st_mode))
		return 0;
	if (strcmp(target, self) != 0) {
		printf("%s stays: it leads to %s\n", path, target);
		return 0;
	}
	if (unlink(path) == 0) {
		printf("removed %s\n", path);
		return 0;
	}
	fprintf(stderr, "cloister: %s cannot be removed: %m\n", path);
	return 1;
}

static int
remove_links(void)
{
	char self[PLACE_PATH];
	auto_free char *own = user_link();
	struct err e;

	if (place_self(self, &e) < 0) {
		fprintf(stderr, "cloister: %s\n", e.text);
		return 1;
	}
	return remove_link(system_link, self) | remove_link(own, self);
}

/* ---- what stays ---- */

static bool
is_there(const char *path)
{
	struct stat st;

	return path != NULL && stat(path, &st) == 0;
}

static void
list_users(void)
{
	const struct passwd *user;
	bool any = false;

	while ((user = getpwent()) != NULL)
		if (strncmp(user->pw_name, "cloister-", 9) == 0) {
			printf("%s%s", any ? " " : "  the daemons' users: userdel ", user->pw_name);
			any = true;
		}
	endpwent();
	if (any)
		putchar('\n');
}

static void
list_rest(void)
{
	char self[PLACE_PATH] = "";
	struct err e;

	puts("These stay, with the line that removes each:");
	if (is_there(place.state))
		printf(
		    "  the audit log, snapshots, keys and environments: rm -r %s\n", place.state);
	if (is_there(place.run))
		printf("  the daemons' sockets: rm -r %s\n", place.run);
	list_users();
	if (place_self(self, &e) == 0 && strrchr(self, '/') != NULL)
		printf("  the programs, in %.*s: the directory in which they were built\n",
		    (int)(strrchr(self, '/') - self), self);
	puts("  packages of Debian, which compose/install-deps names: apt-get purge NAME...");
}

/* ---- the command ---- */

int
uninstall(int argc, char **argv)
{
	const struct command *command = &commands[COMMAND_uninstall];
	int status;

	if (words_help(command, argc, argv))
		return 0;
	status = status_down(argc, argv);
	status |= config_remove_all();
	status |= remove_links();
	list_rest();
	return status;
}
