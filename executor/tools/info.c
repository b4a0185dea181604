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
#include "executor/environment.h"
#include "executor/inquiry.h"
#include "executor/options.h"
#include "executor/run/limits.h"
#include "executor/run/queue.h"
#include "executor/runtime.h"
#include "executor/session/share.h"
#include "executor/session/sign.h"
#include "executor/tools/session_tools.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- languages ---- */

static int
add_modules(struct runtime *runtime, const char *profile, enum inquiry_line line, struct err *e)
{
	struct runtime_modules *modules = list_add(&runtime->modules, sizeof *modules);

	if (modules == NULL || (modules->profile = strdup(profile)) == NULL)
		return err_sys(e, "modules");
	return inquiry_words(inquiry_of_runtime(language_python, line), &modules->modules, e);
}

static char *
version_in(const char *line)
{
	size_t size = strcspn(line, "\n");

	return size > 0 ? strndup(line, size < 128 ? size : 128) : strdup("unknown");
}

static int
add_environments(struct runtime *runtime, struct err *e)
{
	for (size_t i = 0; i < environment_count(); i++) {
		struct runtime_environment *to = list_add(&runtime->environments, sizeof *to);

		if (to == NULL)
			return err_sys(e, "environments");
		to->name = strdup(environment_at(i)->name);
		to->version = version_in(inquiry_of_environment(i, false));
		if (inquiry_words(inquiry_of_environment(i, true), &to->modules, e) < 0)
			return -1;
	}
	return 0;
}

static int
add_runtime(void *list, size_t number, struct err *e)
{
	const struct runtime_row *row = runtime_at(number);
	struct runtime *runtime = list_add(list, sizeof *runtime);

	if (runtime == NULL)
		return err_sys(e, "runtimes");
	*runtime = (struct runtime){
		.language = strdup(row->name),
		.version = version_in(inquiry_of_runtime(number, INQUIRY_VERSION)),
		.path = strdup(row->program),
		.warm = options.warm,
		.backend = strdup(limits_default.box.container != CONTAINER_none ? "oci" : "box"),
	};
	if (number != language_python)
		return 0;
	if (options.warm && (add_modules(runtime, "open", INQUIRY_AHEAD, e) < 0 ||
				add_modules(runtime, "data_science", INQUIRY_SCIENCE, e) < 0))
		return -1;
	return add_environments(runtime, e);
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
