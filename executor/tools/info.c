/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.c - reports languages, limits and load; of sessions, only the caller's own.
 *
 * The files of this directory are the handlers of tools.  The code that runs programs, keeps
 * sessions and makes boxes is elsewhere and does not depend on them.  They trust the gateway for
 * the caller's identity, and that arguments are within the bounds of schema.def, but nothing else
 * in them.  Names and values from a box are passed on, never trusted.
 */
#include "executor/tools/info.h"

#include "executor/builder/containers.h"
#include "executor/builder/order.h"
#include "executor/options.h"
#include "executor/run/limits.h"
#include "executor/run/queue.h"
#include "executor/runtime.h"
#include "executor/session/share.h"
#include "executor/session/sign.h"
#include "executor/tools/session_tools.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- languages ---- */

enum {
	MAX_ANSWER = 32768,
	PYTHON_LINES = 4, /* of the answer below */
	ANSWER_MS = 5000, /* for all languages together */
};

/* The answer of a language's program about itself. */
static struct inquiry {
	pid_t pid; /* 0: it was not started */
	int out;
	size_t size;
	char text[MAX_ANSWER]; /* its version; for Python, three lines of modules follow */
} inquiries[ORDER_MAX_RUNTIMES];

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

static int
ask(struct inquiry *q, size_t number, struct err *e)
{
	char version[] = "--version", isolated[] = "-IB", command[] = "-c";
	char environment[] = "LC_ALL=C.UTF-8", *envp[] = { environment, NULL };
	char *program = (char *)(uintptr_t)runtime_at(number)->argv[0];
	char *plain[] = { program, version, NULL };
	char *python[] = { program, isolated, command, ask_python, options.preimport,
		options.preimport_data_science, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2];

	/* If the language has a check, the program is preceded by the shell. */
	if (!runtime_at(number)->driver)
		plain[0] = (char *)(uintptr_t)runtime_at(number)->program;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, "pipe");

	auto_fd int in = ends[0], out = ends[1];

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	errno = posix_spawn(
	    &q->pid, plain[0], &actions, NULL, number == language_python ? python : plain, envp);
	posix_spawn_file_actions_destroy(&actions);
	if (errno != 0) {
		q->pid = 0;
		return err_sys(e, "%s", plain[0]);
	}
	q->out = take_fd(&in);
	return 0;
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
	for (size_t open = runtime_count(); open > 0;) {
		struct pollfd fds[ORDER_MAX_RUNTIMES];
		int64_t left_ms = until_ms - loop_now_us() / 1000;

		open = 0;
		for (size_t i = 0; i < runtime_count(); i++) {
			fds[i] = (struct pollfd){ inquiries[i].out, POLLIN, 0 };
			open += inquiries[i].out >= 0;
		}
		if (open == 0 || left_ms <= 0 || poll(fds, runtime_count(), (int)left_ms) < 0)
			return;
		for (size_t i = 0; i < runtime_count(); i++)
			if (fds[i].revents != 0 && !hear(&inquiries[i]))
				shut(&inquiries[i]);
	}
}

/* Skips blank lines before the version: perl prints one. */
static void
close_inquiry(struct inquiry *q, const char *name)
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
		log_warn("the program of a language printed no version", LOG_S("language", name));
}

int
info_open(struct err *e)
{
	for (size_t i = 0; i < runtime_count(); i++) {
		inquiries[i].out = -1;
		if (!runtime_at(i)->present || ask(&inquiries[i], i, e) < 0)
			log_warn("the program of a language is not installed",
			    LOG_S("language", runtime_at(i)->name),
			    LOG_S("program", runtime_at(i)->program));
	}
	hear_all(loop_now_us() / 1000 + ANSWER_MS);
	for (size_t i = 0; i < runtime_count(); i++)
		close_inquiry(&inquiries[i], runtime_at(i)->name);
	return 0;
}

/* Splits one line of the answer into words. */
static int
add_modules(struct runtime *runtime, const char *profile, const char *line, struct err *e)
{
	struct runtime_modules *modules = list_add(&runtime->modules, sizeof *modules);

	if (modules == NULL || (modules->profile = strdup(profile)) == NULL)
		return err_sys(e, "modules");
	for (size_t n; *line != 0 && *line != '\n'; line += n + strspn(line + n, " ")) {
		n = strcspn(line, " \n");

		auto_free char *name = strndup(line, n);

		if (name == NULL || texts_add(&modules->modules, name) < 0)
			return err_sys(e, "modules");
	}
	return 0;
}

static int
add_runtime(void *list, size_t number, struct err *e)
{
	const struct runtime_row *row = runtime_at(number);
	const char *text = inquiries[number].text, *open = strchr(text, '\n');
	struct runtime *runtime = list_add(list, sizeof *runtime);
	size_t size = strcspn(text, "\n");

	if (runtime == NULL)
		return err_sys(e, "runtimes");
	*runtime = (struct runtime){
		.language = strdup(row->name),
		.version = size > 0 ? strndup(text, size < 128 ? size : 128) : strdup("unknown"),
		.path = strdup(row->program),
		.warm = options.warm,
		.backend = strdup(limits_default.box.container != CONTAINER_none ? "oci" : "box"),
	};
	if (number != language_python || !options.warm || open == NULL)
		return 0;

	const char *science = strchr(open + 1, '\n');

	if (add_modules(runtime, "open", open + 1, e) < 0)
		return -1;
	return science == NULL ? 0 : add_modules(runtime, "data_science", science + 1, e);
}

int
info_runtimes(void *list, int only, struct err *e)
{
	for (size_t i = 0; i < runtime_count(); i++) {
		bool wanted = only < 0 || only == (int)i;

		if (wanted && runtime_at(i)->present && add_runtime(list, i, e) < 0)
			return -1;
	}
	return 0;
}

const char *
info_modules(void)
{
	const char *at = inquiries[language_python].text;

	for (int line = 0; line < PYTHON_LINES - 1 && at != NULL; line++)
		at = strchr(at, '\n') != NULL ? strchr(at, '\n') + 1 : NULL;
	return at != NULL ? at : "";
}

int
info_on_list_runtimes(struct call *call, void *request, struct err *e)
{
	const struct list_runtimes *wish = request;
	struct runtime_list reply = { 0 };
	int only = wish->language != NULL ? runtime_find(wish->language, e) : -1;

	if (wish->language != NULL && only < 0 && e->code == ERR_invalid_argument)
		return -1;

	/* A known language that is not installed has none. */
	int status =
	    wish->language != NULL && only < 0 ? 0 : info_runtimes(&reply.runtimes, only, e);

	if (status == 0)
		call_reply(call, &reply);
	message_clear(MSG_runtime_list, &reply);
	return status;
}

/* ---- load ---- */

static struct queue_info *
new_queue_info(void)
{
	struct queue_info *info = calloc(1, sizeof *info);

	if (info != NULL)
		*info = (struct queue_info){
			.running = queue_counts()->running,
			.waiting = queue_counts()->waiting,
			.max_concurrent = options.max_concurrent,
			.max_concurrent_each = options.max_concurrent_each,
			.max_waiting = options.max_waiting,
			.completed = queue_counts()->completed,
		};
	return info;
}

struct limit_info *
info_limits(void)
{
	const struct limits *limits = &limits_default;
	struct limit_info *info = calloc(1, sizeof *info);
	char memory[32];

	if (info == NULL)
		return NULL;
	snprintf(memory, sizeof memory, "%" PRIu64 "m", limits->box.memory_bytes / LIMITS_MIB);
	*info = (struct limit_info){
		.timeout = (double)limits->box.wall_ms / 1000,
		.max_output_size = limits->box.output_bytes,
		.max_code_size = options.max_code_bytes,
		.memory_limit = strdup(memory),
		.max_processes = limits->box.processes,
		.workspace_bytes = limits->room.bytes,
		.workspace_files = limits->room.files,
	};
	return info;
}

int
info_on_sandbox_stats(struct call *call, void *request, struct err *e)
{
	const struct sandbox_stats *ask = request;
	struct stats reply = { .queue = new_queue_info(),
		.workspaces = malloc(sizeof *reply.workspaces),
		.resources = info_limits(),
		.artifact_key = strdup(sign_public_key()) };
	int status = 0;

	if (reply.queue == NULL || reply.workspaces == NULL || reply.resources == NULL)
		status = err_sys(e, "stats");
	else
		status = session_tools_report(call, ask->namespace, &reply.sessions, e);
	if (reply.workspaces != NULL)
		*reply.workspaces = share_of(SHARE_WORKSPACES, call->owner.principal);
	if (status == 0)
		call_reply(call, &reply);
	message_clear(MSG_stats, &reply);
	return status;
}
