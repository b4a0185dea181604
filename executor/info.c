/* SPDX-License-Identifier: Apache-2.0 */
/* info.c - tells callers what there is; of sessions, their own only. */
#include "executor/info.h"

#include "executor/options.h"
#include "executor/run/queue.h"
#include "executor/session/session_tools.h"
#include "executor/sign.h"

#include "common/auto.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* ---- languages ---- */

/* By language; one without a row cannot be run by this build. */
static const char *const programs[language_COUNT] = {
/* clang-format off */
#define RUNTIME(language, path, ...) [language_##language] = path,
#include "executor/builder/runtimes.def"
	/* clang-format on */
};

static char versions[language_COUNT][128]; /* "": not there */

static int
run_program(const char *const argv[], int out, struct err *e)
{
	char environment[] = "LC_ALL=C.UTF-8", *envp[] = { environment, NULL };
	posix_spawn_file_actions_t actions;
	int status = 0;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	errno = posix_spawn(&pid, argv[0], &actions, NULL, (char **)(uintptr_t)argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	if (errno != 0)
		return err_sys(e, "%s", argv[0]);
	if (waitpid(pid, &status, 0) < 0 || status != 0)
		return err_set(e, ERR_runtime_missing, "%s %s failed", argv[0], argv[1]);
	return 0;
}

/* It has ended before what it printed is read: a pipe holds more than is asked for. */
int
info_ask(const char *const argv[], char *text, size_t size, struct err *e)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, "pipe");

	auto_fd int in = ends[0], out = ends[1];

	if (run_program(argv, out, e) < 0)
		return -1;

	ssize_t n = read(in, text, size - 1);

	if (n <= 0)
		return err_set(e, ERR_runtime_missing, "%s %s tells nothing", argv[0], argv[1]);
	text[n] = 0;
	return 0;
}

static int
ask_version(const char *program, char *version, size_t size, struct err *e)
{
	if (info_ask((const char *const[]){ program, "--version", NULL }, version, size, e) < 0)
		return -1;
	version[strcspn(version, "\n")] = 0;
	return 0;
}

int
info_open(struct err *e)
{
	for (int language = 0; language < language_COUNT; language++) {
		const char *program = programs[language];

		if (program == NULL)
			continue;
		if (ask_version(program, versions[language], sizeof versions[language], e) < 0)
			log_warn("a language is not there",
			    LOG_S("language", word_text(SET_language, language)), LOG_E(e));
	}
	return 0;
}

int
info_check_language(enum language language, struct err *e)
{
	if (versions[language][0] != 0)
		return 0;
	return err_set(e, ERR_runtime_missing, "language: %s cannot be run on this server",
	    word_text(SET_language, (int)language));
}

const char *
info_program(enum language language)
{
	return programs[language];
}

static int
add_runtime(void *list, int language, struct err *e)
{
	struct runtime *runtime = list_add(list, sizeof *runtime);

	must(programs[language] != NULL);
	if (runtime == NULL)
		return err_sys(e, "runtimes");
	*runtime = (struct runtime){
		.language = language,
		.version = strdup(versions[language]),
		.path = strdup(programs[language]),
		.backend = strdup("box"),
	};
	return 0;
}

int
info_runtimes(void *list, int only, struct err *e)
{
	for (int language = 0; language < language_COUNT; language++) {
		bool wanted = only < 0 || only == language;

		if (wanted && versions[language][0] != 0 && add_runtime(list, language, e) < 0)
			return -1;
	}
	return 0;
}

int
info_on_list_runtimes(struct call *call, void *request, struct err *e)
{
	const struct list_runtimes *ask = request;
	struct runtime_list reply = { 0 };
	const char *name = ask->language;
	int only = name != NULL ? word_parse(SET_language, name, strlen(name)) : -1;

	if (name != NULL && only < 0)
		return err_set(e, ERR_invalid_argument,
		    "language: \"%.16s\" is none of python, node, shell", name);

	int status = info_runtimes(&reply.runtimes, only, e);

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
			.max_waiting = options.max_waiting,
			.completed = queue_counts()->completed,
		};
	return info;
}

struct limit_info *
info_limits(void)
{
	const struct limits *limits = &options.limits;
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
		.resources = info_limits(),
		.artifact_key = strdup(sign_public_key()) };
	int status = 0;

	if (reply.queue == NULL || reply.resources == NULL)
		status = err_sys(e, "stats");
	else
		status = session_tools_report(call, ask->namespace, &reply, e);
	if (status == 0)
		call_reply(call, &reply);
	message_clear(MSG_stats, &reply);
	return status;
}
