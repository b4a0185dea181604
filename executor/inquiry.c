/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inquiry.c - starts all interpreters at once and reads their answers.
 *
 * Trusts the operator's interpreters.  The packages of an environment are not trusted: their names
 * are read without importing one, and without the *.pth files with which a package can have code
 * run at the start of an interpreter.
 */
#include "executor/inquiry.h"

#include "executor/builder/order.h"
#include "executor/environment.h"
#include "executor/options.h"
#include "executor/runtime.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MAX_ANSWER = 32768,
	ANSWER_MS = 5000, /* for all together */
	ALL = ORDER_MAX_RUNTIMES + ORDER_MAX_ENVIRONMENTS,
};

/* The languages, and behind them the environments, of which the first is not asked: it is that of
 * the language. */
static struct inquiry {
	const char *name;
	pid_t pid; /* 0: it was not started */
	int out;
	size_t size;
	char text[MAX_ANSWER];
} inquiries[ALL];

/* Prints the version, then for each argument those of its modules that exist, then all installed
 * modules.  None of them is imported. */
static char ask_python[] = "import pkgutil, sys\n"
			   "from importlib import metadata, util\n"
			   "print('Python', sys.version.split()[0])\n"
			   "for names in sys.argv[1:]:\n"
			   "    for name in filter(None, names.split(',')):\n"
			   "        top, version = name.partition('.')[0], ''\n"
			   "        if not util.find_spec(top):\n"
			   "            continue\n"
			   "        try:\n"
			   "            if name not in sys.stdlib_module_names:\n"
			   "                version = '==' + metadata.version(name)\n"
			   "        except metadata.PackageNotFoundError:\n"
			   "            pass\n"
			   "        print(name + version, end=' ')\n"
			   "    print()\n"
			   "all = {m.name for m in pkgutil.iter_modules()}\n"
			   "all = sorted(n for n in all - sys.stdlib_module_names\n"
			   "             if n.isidentifier() and n[0] != '_' and len(n) < 32)\n"
			   "print(*all[:512])\n";

/* Prints the version, then the modules of the environment whose interpreter is the first argument.
 * A second one is the version, of an image, whose interpreter does not run here. */
static char ask_environment[] =
    "import os, pkgutil, sys\n"
    "version = sys.argv[2] if len(sys.argv) > 2 else sys.version.split()[0]\n"
    "print('Python', version)\n"
    "lib = os.path.join(os.path.dirname(sys.argv[1]), '../lib')\n"
    "sites = [os.path.join(lib, 'python' + '.'.join(version.split('.')[:2]), 'site-packages')]\n"
    "sites += [os.path.join(lib, 'python3/dist-packages')] * (len(sys.argv) > 2)\n"
    "sites = [site for site in sites if os.path.isdir(site)]\n"
    "split = [e[:-10].split('-') for s in sites for e in os.listdir(s) if "
    "e.endswith('.dist-info')]\n"
    "versions = {s[0].lower(): '==' + s[1] for s in split if len(s) == 2}\n"
    "all = sorted(m.name for m in pkgutil.iter_modules(sites)\n"
    "             if m.name.isidentifier() and m.name[0] != '_' and len(m.name) < 32)\n"
    "print(*(n + versions.get(n.lower(), '') for n in all[:512]))\n";

static int
ask(struct inquiry *q, char *const argv[], struct err *e)
{
	char environment[] = "LC_ALL=C.UTF-8", *envp[] = { environment, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, "pipe");

	auto_fd int in = ends[0], out = ends[1];

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	errno = posix_spawn(&q->pid, argv[0], &actions, NULL, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	if (errno != 0) {
		q->pid = 0;
		return err_sys(e, "%s", argv[0]);
	}
	q->out = take_fd(&in);
	return 0;
}

static int
ask_runtime(struct inquiry *q, size_t number, struct err *e)
{
	const struct runtime_row *row = runtime_at(number);
	/* If the language has a check, the program is preceded by the shell. */
	char *program = (char *)(uintptr_t)(row->driver ? row->argv[0] : row->program);
	char version[] = "--version", isolated[] = "-IB", command[] = "-c";
	char *plain[] = { program, version, NULL };
	char *python[] = { program, isolated, command, ask_python, options.preimport,
		options.preimport_data_science, NULL };

	return ask(q, number == language_python ? python : plain, e);
}

/* This host's interpreter looks into an image, and reads nothing there but names. */
static int
ask_image(struct inquiry *q, const struct environment *image, struct err *e)
{
	char isolated[] = "-ISB", command[] = "-c", version[16];
	auto_free char *path = NULL;

	snprintf(version, sizeof version, "3.%u", image->minor);
	if (asprintf(&path, "%s%s", image->root, image->python) < 0)
		return err_sys(e, "an image");

	char *argv[] = { options.python, isolated, command, ask_environment, path, version, NULL };

	return ask(q, argv, e);
}

static int
ask_named(struct inquiry *q, size_t number, struct err *e)
{
	if (environment_at(number)->root != NULL)
		return ask_image(q, environment_at(number), e);

	char isolated[] = "-ISB", command[] = "-c";
	char *program = (char *)(uintptr_t)environment_at(number)->python;
	char *argv[] = { program, isolated, command, ask_environment, program, NULL };

	return ask(q, argv, e);
}

static void
shut(struct inquiry *q)
{
	if (q->out >= 0)
		close(q->out);
	q->out = -1;
}

/* false: no more data will come. */
static bool
hear(struct inquiry *q)
{
	ssize_t n = read(q->out, q->text + q->size, sizeof q->text - 1 - q->size);

	if (n > 0)
		q->size += (size_t)n;
	return n > 0 || (n < 0 && errno == EAGAIN);
}

static void
hear_all(int64_t until_ms)
{
	for (size_t open = ALL; open > 0;) {
		struct pollfd fds[ALL];
		int64_t left_ms = until_ms - loop_now_us() / 1000;

		open = 0;
		for (size_t i = 0; i < ALL; i++) {
			fds[i] = (struct pollfd){ inquiries[i].out, POLLIN, 0 };
			open += inquiries[i].out >= 0;
		}
		if (open == 0 || left_ms <= 0 || poll(fds, ALL, (int)left_ms) < 0)
			return;
		for (size_t i = 0; i < ALL; i++)
			if (fds[i].revents != 0 && !hear(&inquiries[i]))
				shut(&inquiries[i]);
	}
}

/* Skips blank lines before the version: perl prints one. */
static void
conclude(struct inquiry *q)
{
	size_t blank = strspn(q->text, "\n");

	shut(q);
	if (q->pid > 0) {
		kill(q->pid, SIGKILL);
		waitpid(q->pid, NULL, 0);
	}
	memmove(q->text, q->text + blank, sizeof q->text - blank);
	if (!utf8_valid(q->text, strlen(q->text)))
		q->text[0] = 0;
	if (q->text[0] == 0 && q->pid > 0)
		log_warn("an interpreter printed no version", LOG_S("of", q->name));
}

static void
ask_all(void)
{
	struct err e;

	for (size_t i = 0; i < runtime_count(); i++) {
		struct inquiry *q = &inquiries[i];

		q->name = runtime_at(i)->name;
		if (!runtime_at(i)->present || ask_runtime(q, i, &e) < 0)
			log_warn("the program of a language is not installed",
			    LOG_S("language", q->name), LOG_S("program", runtime_at(i)->program));
	}
	for (size_t i = 1; i < environment_count(); i++) {
		struct inquiry *q = &inquiries[ORDER_MAX_RUNTIMES + i];

		q->name = environment_at(i)->name;
		if (ask_named(q, i, &e) < 0)
			log_warn("an environment cannot be used", LOG_S("environment", q->name),
			    LOG_E(&e));
	}
}

void
inquiry_open(void)
{
	for (size_t i = 0; i < ALL; i++)
		inquiries[i].out = -1;
	ask_all();
	hear_all(loop_now_us() / 1000 + ANSWER_MS);
	for (size_t i = 0; i < ALL; i++)
		conclude(&inquiries[i]);
}

static const char *
line_of(const char *text, int line)
{
	for (; line > 0 && text != NULL; line--) {
		text = strchr(text, '\n');
		text = text != NULL ? text + 1 : NULL;
	}
	return text != NULL ? text : "";
}

const char *
inquiry_of_runtime(size_t number, enum inquiry_line line)
{
	return line_of(inquiries[number].text, (int)line);
}

const char *
inquiry_of_environment(size_t number, bool modules)
{
	if (number == 0)
		return inquiry_of_runtime(
		    language_python, modules ? INQUIRY_MODULES : INQUIRY_VERSION);
	return line_of(inquiries[ORDER_MAX_RUNTIMES + number].text, modules);
}

unsigned
inquiry_minor(size_t number)
{
	static const char before[] = "Python 3.";
	const char *version = inquiry_of_environment(number, false);

	if (strncmp(version, before, sizeof before - 1) != 0)
		return 0;
	return (unsigned)strtoul(version + sizeof before - 1, NULL, 10);
}

int
inquiry_words(const char *line, struct texts *to, struct err *e)
{
	for (size_t n; *line != 0 && *line != '\n'; line += n + strspn(line + n, " ")) {
		n = strcspn(line, " \n");

		auto_free char *word = strndup(line, n);

		if (word == NULL || texts_add(to, word) < 0)
			return err_sys(e, "modules");
	}
	return 0;
}
