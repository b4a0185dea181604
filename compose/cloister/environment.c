/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.c - makes virtual environments below <state>/environments.
 *
 * NAME is a link to a directory .NAME-XXXXXX, so that a new one takes the place of an old one in
 * one step, when it is whole.  The old one is removed by the next command, because programs may
 * still run in it.
 *
 * Trusts the user, who chooses the packages, and pip.  Only wheels are installed, so that no code
 * of a package runs here; a package that wants to run at the start of each interpreter (an `import`
 * line in a *.pth file, or sitecustomize) is refused, because interpreters are prepared outside of
 * boxes.
 */
#include "compose/cloister/environment.h"

#include "compose/cloister/commands.h"
#include "compose/cloister/config/line.h"
#include "compose/cloister/environment_image.h"
#include "compose/cloister/place.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"
#include "common/base/environment_name.h"
#include "common/base/fdio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FAILED = 1, MAX_PTH = 65536, NEST = 16 };

/* The packages of an environment that is named so and is given none. */
static const struct {
	const char *name;
	const char *const *packages;
} ready[] = {
	{ "data", (const char *const[]){ "numpy", "pandas", "scipy", "matplotlib", "seaborn",
		      "scikit-learn", "sympy", "openpyxl", "reportlab", "pyarrow", "polars",
		      "pillow", NULL } },
};

/* Imported ahead if they are installed.  More would make each start of a program longer than half
 * as much again: the fork copies page tables. */
static const char *const usual[] = { "numpy", "pandas", "scipy", "scipy.stats", "matplotlib",
	"matplotlib.pyplot" };

struct wish {
	const char *name, *requirements, *venv, *image, *python, *ahead;
	struct line packages;
	size_t npackages;
};

/* ---- the command line ---- */

/* A flag of this command, as --flag=VALUE or --flag VALUE; the others are settings. */
static bool
take_flag(struct wish *wish, int argc, char **argv, int *i)
{
	const struct {
		const char *name;
		const char **to;
	} flags[] = {
		{ "--requirements", &wish->requirements },
		{ "--venv", &wish->venv },
		{ "--image", &wish->image },
		{ "--python", &wish->python },
		{ "--ahead", &wish->ahead },
	};

	for (size_t f = 0; f < COUNT(flags); f++) {
		size_t size = strlen(flags[f].name);

		if (strncmp(argv[*i], flags[f].name, size) != 0)
			continue;
		if (argv[*i][size] == '=')
			*flags[f].to = argv[*i] + size + 1;
		else if (argv[*i][size] == '\0' && *i + 1 < argc)
			*flags[f].to = argv[++*i];
		else
			continue;
		return true;
	}
	return strcmp(argv[*i], "--packages") == 0;
}

/* Leaves settings of cloister in the command line, and reads them. */
static int
read_wish(struct wish *wish, int argc, char **argv, struct err *e)
{
	int rest = 1;

	wish->python = "/usr/bin/python3";
	for (int i = 1; i < argc; i++) {
		if (take_flag(wish, argc, argv, &i))
			continue;
		if (argv[i][0] == '-')
			argv[rest++] = argv[i];
		else if (wish->name == NULL)
			wish->name = argv[i];
		else {
			line_add(&wish->packages, argv[i]);
			wish->npackages++;
		}
	}
	argv[rest] = NULL;
	place_load("environments of Python", rest, argv);
	if (wish->name == NULL)
		return err_set(e, ERR_invalid_argument, "NAME required");
	if (!environment_named(wish->name))
		return err_set(e, ERR_invalid_argument,
		    "NAME: '%.64s' is none; use at most %d of a-z, 0-9, . _ and -, not '%s'",
		    wish->name, ENVIRONMENT_NAME, ENVIRONMENT_DEFAULT);
	return 0;
}

static int
check_wish(struct wish *wish, struct err *e)
{
	bool named = wish->npackages > 0 || wish->requirements != NULL;
	bool whole = wish->venv != NULL || wish->image != NULL;

	if (whole && (named || (wish->venv != NULL && wish->image != NULL)))
		return err_set(e, ERR_invalid_argument, "--%s: it has its packages; give no others",
		    wish->venv != NULL ? "venv" : "image");
	if (wish->image != NULL && wish->ahead != NULL)
		return err_set(e, ERR_invalid_argument,
		    "--ahead: nothing of an image runs outside of boxes, so nothing is imported "
		    "ahead");
	for (size_t i = 0; i < COUNT(ready) && !named && !whole; i++)
		if (strcmp(ready[i].name, wish->name) == 0)
			for (const char *const *p = ready[i].packages; *p != NULL; p++) {
				line_add(&wish->packages, *p);
				wish->npackages++;
			}
	if (wish->npackages == 0 && wish->requirements == NULL && !whole)
		return err_set(e, ERR_invalid_argument,
		    "give packages, or --requirements=FILE, or --venv=DIR, or "
		    "--image=oci-layout:DIR");
	return 0;
}

/* A command that takes nothing but a name. */
static int
check_bare(const struct wish *wish, struct err *e)
{
	if (wish->npackages > 0)
		return err_set(
		    e, ERR_invalid_argument, "'%.64s' is one word too many", wish->packages.text);
	if (wish->requirements != NULL || wish->venv != NULL || wish->ahead != NULL ||
	    wish->image != NULL)
		return err_set(e, ERR_invalid_argument, "its flags are those of environment add");
	return 0;
}

/* ---- directories ---- */

/* <state>/environments, which programs may read. */
static int
open_all(struct err *e)
{
	auto_free char *path = NULL;
	auto_fd int state = place_open_state(e);

	if (state < 0)
		return -1;
	if (asprintf(&path, "%s/environments", place.state) < 0)
		return err_sys(e, "environments");
	umask(022);
	return fdio_directory(state, "environments", 0755, e);
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

static void
remove_tree(const char *name)
{
	auto_free char *path = NULL;

	if (asprintf(&path, "%s/environments/%s", place.state, name) >= 0)
		nftw(path, remove_one, NEST, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Where the link of an environment leads, from malloc; NULL: there is none. */
static char *
target_of(int all, const char *name)
{
	char target[PLACE_PATH];
	ssize_t n = readlinkat(all, name, target, sizeof target - 1);

	target[n < 0 ? 0 : n] = '\0';
	return n < 0 ? NULL : strdup(target);
}

static bool
is_linked(int all, const char *made)
{
	auto_free char *name = strndup(made + 1, strlen(made) - strlen(".-XXXXXX"));
	auto_free char *target = name == NULL ? NULL : target_of(all, name);

	return target != NULL && strcmp(target, made) == 0;
}

/* Removes what earlier commands replaced, or did not finish. */
static void
sweep(int all)
{
	DIR *directory = fdopendir(dup(all));

	if (directory == NULL)
		return;
	rewinddir(directory);
	for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
		const char *name = entry->d_name;

		if (name[0] == '.' && strlen(name) > strlen(".-XXXXXX") && !is_linked(all, name))
			remove_tree(name);
	}
	closedir(directory);
}

/* ---- making one ---- */

static int
run(struct line *line, struct err *e)
{
	int status = line_run(line, e);

	line_clear(line);
	return status;
}

static int
make_venv(const struct wish *wish, const char *directory, struct err *e)
{
	struct line line = { 0 };
	const char *const words[] = { wish->python, "-I", "-m", "venv", "--without-pip",
		directory };

	for (size_t i = 0; i < COUNT(words); i++)
		line_add(&line, words[i]);
	return run(&line, e);
}

static int
install(const struct wish *wish, const char *directory, struct err *e)
{
	auto_free char *python = NULL;
	struct line line = { 0 };

	if (asprintf(&python, "%s/bin/python3", directory) < 0)
		return err_sys(e, "python");

	const char *const words[] = { wish->python, "-I", "-m", "pip", "--python", python,
		"install", "--only-binary=:all:", "--disable-pip-version-check", "--no-input",
		"--no-warn-script-location", "--quiet", "--progress-bar=on" };

	for (size_t i = 0; i < COUNT(words); i++)
		line_add(&line, words[i]);
	if (wish->requirements != NULL) {
		line_add(&line, "--requirement");
		line_add(&line, wish->requirements);
	}
	line_add(&line, "--");
	for (size_t at = 0; at < wish->packages.size; at += strlen(wish->packages.text + at) + 1)
		line_add(&line, wish->packages.text + at);
	return run(&line, e);
}

static bool
runs_code(const char *path)
{
	struct blob text = { 0 };
	struct err e;
	bool runs = fdio_load(AT_FDCWD, path, MAX_PTH, &text, &e) < 0;
	const char *line = text.data;

	for (; !runs && line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		runs = strncmp(line, "import ", 7) == 0 || strncmp(line, "import\t", 7) == 0;
	}
	blob_clear(&text);
	return runs;
}

/* The first file of site-packages that matches, and that runs code at each start; NULL: none. */
static char *
starter(const char *directory, const char *match, bool (*runs)(const char *path))
{
	auto_free char *pattern = NULL;
	glob_t found = { 0 };
	char *name = NULL;

	must(asprintf(&pattern, "%s/lib/python3*/site-packages/%s", directory, match) >= 0);
	glob(pattern, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc && name == NULL; i++)
		if (runs == NULL || runs(found.gl_pathv[i]))
			name = strdup(strrchr(found.gl_pathv[i], '/') + 1);
	globfree(&found);
	return name;
}

/* What Python's module `site` runs. */
static int
check_paths(const char *directory, struct err *e)
{
	static const struct {
		const char *match;
		bool (*runs)(const char *path);
	} kinds[] = {
		{ "*.pth", runs_code },
		{ "sitecustomize*", NULL },
		{ "usercustomize*", NULL },
	};

	for (size_t i = 0; i < COUNT(kinds); i++) {
		auto_free char *name = starter(directory, kinds[i].match, kinds[i].runs);

		if (name != NULL)
			return err_set(e, ERR_denied,
			    "%.100s would run code of its package at each start of an "
			    "interpreter, outside of boxes; leave that package out",
			    name);
	}
	return 0;
}

/* What a program has installed by pip (/user/base in a box) and the packages of a session
 * (/usr/local) are found before those of the environment, also by interpreters that a program
 * starts.  The line runs when site-packages is the end of the path. */
static int
write_layer(const char *directory, struct err *e)
{
	static const char line[] =
	    "import sys; sys.path[-1:-1] = [path % sys.version_info[:2] for path in "
	    "('/user/base/lib/python%d.%d/site-packages', "
	    "'/usr/local/lib/python%d.%d/dist-packages')]\n";
	auto_free char *pattern = NULL;
	glob_t found = { 0 };
	int status = -1;

	if (asprintf(&pattern, "%s/lib/python3*/site-packages", directory) < 0 ||
	    glob(pattern, 0, NULL, &found) != 0)
		return err_set(e, ERR_internal, "%s has no site-packages", directory);

	auto_fd int site = open(found.gl_pathv[0], O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (site < 0)
		err_sys(e, "%s", found.gl_pathv[0]);
	else
		status = fdio_store(site, "cloister.pth", line, sizeof line - 1, 0644, e);
	globfree(&found);
	return status;
}

static bool
has(const char *directory, const char *module)
{
	auto_free char *pattern = NULL;
	int size = (int)strcspn(module, ".");
	glob_t found = { 0 };

	if (asprintf(&pattern, "%s/lib/python3*/site-packages/%.*s", directory, size, module) < 0)
		return false;

	bool is = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;

	globfree(&found);
	return is;
}

static int
write_ahead(int all, const struct wish *wish, const char *directory, struct err *e)
{
	char list[1024] = "", name[ENVIRONMENT_NAME + sizeof ENVIRONMENT_AHEAD];
	size_t size = 0;

	for (size_t i = 0; i < COUNT(usual) && wish->ahead == NULL; i++)
		if (has(directory, usual[i]))
			size += (size_t)snprintf(
			    list + size, sizeof list - size, "%s%s", size > 0 ? "," : "", usual[i]);

	const char *text = wish->ahead != NULL ? wish->ahead : list;

	snprintf(name, sizeof name, "%s" ENVIRONMENT_AHEAD, wish->name);
	return fdio_store(all, name, text, strlen(text), 0644, e);
}

/* The link takes the place of an earlier one in one step. */
static int
show(int all, const char *name, const char *target, struct err *e)
{
	struct stat st;

	if (fstatat(all, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(st.st_mode))
		return err_set(e, ERR_denied,
		    "%s/environments/%s is a directory that this command did not make; move it",
		    place.state, name);
	if ((unlinkat(all, ".new", 0) < 0 && errno != ENOENT) ||
	    symlinkat(target, all, ".new") < 0 || renameat(all, ".new", all, name) < 0)
		return err_sys(e, "environments/%s", name);
	return 0;
}

static int
add_venv(int all, const struct wish *wish, struct err *e)
{
	auto_free char *real = realpath(wish->venv, NULL);
	auto_free char *python = NULL;

	if (real == NULL || asprintf(&python, "%s/bin/python3", real) < 0)
		return err_sys(e, "--venv: %s", wish->venv);
	if (access(python, X_OK) < 0)
		return err_set(e, ERR_invalid_argument, "--venv: there is no %s", python);
	return check_paths(real, e) < 0 || write_ahead(all, wish, real, e) < 0
	           ? -1
	           : show(all, wish->name, real, e);
}

static int
fill_venv(int all, const struct wish *wish, const char *directory, struct err *e)
{
	if (make_venv(wish, directory, e) < 0 || install(wish, directory, e) < 0 ||
	    check_paths(directory, e) < 0 || write_layer(directory, e) < 0)
		return -1;
	return write_ahead(all, wish, directory, e);
}

/* Nothing of an image is imported ahead, for that would run it outside of boxes. */
static int
fill_from_image(int all, const struct wish *wish, const char *directory, struct err *e)
{
	char ahead[ENVIRONMENT_NAME + sizeof ENVIRONMENT_AHEAD];

	snprintf(ahead, sizeof ahead, "%s" ENVIRONMENT_AHEAD, wish->name);
	unlinkat(all, ahead, 0);
	return environment_image_unpack(wish->image, directory, e);
}

static int
add_new(int all, const struct wish *wish, struct err *e)
{
	auto_free char *directory = NULL;

	if (asprintf(&directory, "%s/environments/.%s-XXXXXX", place.state, wish->name) < 0 ||
	    mkdtemp(directory) == NULL || chmod(directory, 0755) < 0)
		return err_sys(e, "environments");

	const char *made = strrchr(directory, '/') + 1;

	if ((wish->image != NULL ? fill_from_image(all, wish, directory, e)
				 : fill_venv(all, wish, directory, e)) == 0 &&
	    show(all, wish->name, made, e) == 0)
		return 0;
	remove_tree(made);
	return -1;
}

int
environment_on_add(int argc, char **argv)
{
	const struct command *command = &commands[COMMAND_environment_add];
	struct wish wish = { 0 };
	struct err e;

	if (words_help(command, argc, argv))
		return 0;
	if (read_wish(&wish, argc, argv, &e) < 0 || check_wish(&wish, &e) < 0)
		return words_fail(command, &e);

	auto_fd int all = open_all(&e);

	if (all < 0)
		return words_fail(command, &e);
	sweep(all);
	if ((wish.venv != NULL ? add_venv(all, &wish, &e) : add_new(all, &wish, &e)) < 0)
		return words_fail(command, &e);
	line_clear(&wish.packages);
	printf("%s: calls name it as environment=\"%s\". Daemons that run already see it after "
	       "`cloister down`.\n",
	    wish.name, wish.name);
	return 0;
}

/* ---- the others ---- */

static int
is_shown(const struct dirent *entry)
{
	return environment_named(entry->d_name);
}

int
environment_on_list(int argc, char **argv)
{
	const struct command *command = &commands[COMMAND_environment_list];
	auto_free char *directory = NULL;
	struct dirent **entries = NULL;

	if (words_help(command, argc, argv))
		return 0;
	place_load("list environments of Python", argc, argv);
	if (asprintf(&directory, "%s/environments", place.state) < 0)
		return FAILED;

	int n = scandir(directory, &entries, is_shown, alphasort);

	for (int i = 0; i < n; i++) {
		auto_free char *path = NULL;
		auto_free char *real = NULL;

		if (asprintf(&path, "%s/%s", directory, entries[i]->d_name) >= 0)
			real = realpath(path, NULL);
		printf("%-16s %s\n", entries[i]->d_name, real != NULL ? real : "missing");
		free(entries[i]);
	}
	free((void *)entries);
	return 0;
}

static int
remove_named(int all, const char *name, struct err *e)
{
	must(name != NULL);

	auto_free char *target = target_of(all, name);
	char ahead[ENVIRONMENT_NAME + sizeof ENVIRONMENT_AHEAD];

	if (target == NULL)
		return err_set(e, ERR_not_found, "there is no environment %s", name);
	snprintf(ahead, sizeof ahead, "%s" ENVIRONMENT_AHEAD, name);
	unlinkat(all, ahead, 0);
	if (unlinkat(all, name, 0) < 0)
		return err_sys(e, "environments/%s", name);
	if (target[0] != '/')
		remove_tree(target);
	return 0;
}

int
environment_on_remove(int argc, char **argv)
{
	const struct command *command = &commands[COMMAND_environment_remove];
	struct wish wish = { 0 };
	struct err e;

	if (words_help(command, argc, argv))
		return 0;
	if (read_wish(&wish, argc, argv, &e) < 0 || check_bare(&wish, &e) < 0)
		return words_fail(command, &e);

	auto_fd int all = open_all(&e);

	if (all < 0 || remove_named(all, wish.name, &e) < 0)
		return words_fail(command, &e);
	sweep(all);
	return 0;
}
