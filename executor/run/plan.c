/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - interprets the arguments of a run.
 *
 * The schema has bounded them.  A request that this server cannot fulfil is refused by name; no
 * argument is silently ignored.
 */
#include "executor/run/plan.h"

#include "executor/builder/containers.h"
#include "executor/environment.h"
#include "executor/files/files.h"
#include "executor/guest/protocol.h"
#include "executor/options.h"
#include "executor/run/container.h"
#include "executor/run/network/domains.h"
#include "executor/run/pip_lines.h"
#include "executor/run/pool.h"
#include "executor/run/typescript.h"
#include "executor/runtime.h"

#include "common/base/auto.h"
#include "common/table/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The driver sets the variables; the vault checks the names. */
static int
read_secrets(struct plan *plan, struct execute_code *ask, struct err *e)
{
	bool able = runtime_at(plan->language)->driver;

	if (ask->env_secrets.count > 0 && !able)
		return err_set(e, ERR_invalid_argument,
		    "env_secrets: programs in %s cannot get secrets here",
		    runtime_at(plan->language)->name);
	plan->secrets = ask->env_secrets;
	plan->all_secrets = ask->all_secrets && able;
	ask->env_secrets = (struct texts){ 0 };
	return 0;
}

/* The driver sets both, once for each interpreter. */
static int
read_invocation(
    struct plan *plan, struct execute_code *ask, const struct session *session, struct err *e)
{
	bool text = ask->stdin.data != NULL, bytes = ask->stdin_base64.data != NULL;
	const char *field = ask->arguments.count > 0 ? "arguments" : "stdin";

	if (text && bytes)
		return err_set(e, ERR_invalid_argument, "stdin: give either stdin or stdin_base64");
	if (ask->arguments.count == 0 && !text && !bytes)
		return 0;
	if (session != NULL)
		return err_set(e, ERR_invalid_argument,
		    "%s: not in a session; assign sys.argv, or read a file", field);
	if (!runtime_at(plan->language)->driver)
		return err_set(e, ERR_invalid_argument, "%s: programs in %s cannot get it here",
		    field, runtime_at(plan->language)->name);
	plan->arguments = ask->arguments;
	ask->arguments = (struct texts){ 0 };
	plan->input = text ? ask->stdin : ask->stdin_base64;
	*(text ? &ask->stdin : &ask->stdin_base64) = (struct blob){ 0 };
	return 0;
}

static int
read_language(struct plan *plan, const char *asked, const struct session *session, struct err *e)
{
	int language = session != NULL ? (int)session->language : language_python;

	if (asked != NULL && (language = runtime_find(asked, e)) < 0)
		return -1;
	plan->language = (unsigned)language;
	plan->typed = asked != NULL ? runtime_is_typed(asked) : session != NULL && session->typed;
	return 0;
}

/* All programs of a session share one box, whose limits cannot be changed. */
static int
refuse_other_box(const struct plan *plan, const struct execute_code *ask,
    const struct session *session, struct err *e)
{
	const struct box_limits *mine = &plan->limits.box, *its = &session->limits.box;
	const char *field = NULL;

	if (mine->container != its->container)
		field = "use_container";
	else if (mine->environment != its->environment)
		field = "environment";
	else if (mine->memory_bytes != its->memory_bytes)
		field = ask->memory_limit != NULL ? "memory_limit" : "resource_limits.max_ram_mb";
	else if (mine->cpu_milli != its->cpu_milli)
		field = "resource_limits.max_cpu_cores";
	else if (mine->processes != its->processes)
		field = "resource_limits.max_processes";
	else if (mine->open_files != its->open_files)
		field = "resource_limits.max_open_files";
	if (field == NULL)
		return 0;
	return err_set(e, ERR_invalid_argument,
	    "%s: cannot change in an existing session; set it in create_session, or run without "
	    "session_id",
	    field);
}

static int
read_limits(struct plan *plan, const struct execute_code *ask, const struct limits *limits,
    const struct session *session, struct err *e)
{
	const struct resource_limits *asked = ask->resource_limits;

	plan->limits = *limits;
	if (session != NULL && asked != NULL && (asked->max_disk_mb != 0 || asked->max_files != 0))
		return err_set(e, ERR_invalid_argument,
		    "resource_limits.%s: cannot change in an existing session; set it in "
		    "create_session",
		    asked->max_disk_mb != 0 ? "max_disk_mb" : "max_files");
	if (environment_ask(ask->environment, &plan->limits.box.environment, e) < 0)
		return -1;
	if (ask->use_container && plan->limits.box.container == CONTAINER_none &&
	    container_choose(&plan->limits.box.container, e) < 0)
		return -1;
	if (plan->limits.box.container != CONTAINER_none &&
	    environment_needs_host(plan->limits.box.environment, "use_container", e) < 0)
		return -1;
	/* A field of its own overrides the same limit in resource_limits. */
	if (limits_ask(&plan->limits, "resource_limits.", asked, e) < 0 ||
	    limits_ask_memory(&plan->limits, "memory_limit", ask->memory_limit, e) < 0)
		return -1;
	if (session != NULL && refuse_other_box(plan, ask, session, e) < 0)
		return -1;
	limits_usual(&plan->limits, ask->usual_timeout, ask->usual_bytes);
	return limits_ask_seconds(&plan->limits, "timeout", ask->timeout, e);
}

/* A container has the box's network, and not always its resolver. */
static int
read_domains(
    struct plan *plan, const struct execute_code *ask, const struct session *session, struct err *e)
{
	if (domains_of_run(ask, session != NULL ? session->domains : NULL, &plan->domains, e) < 0)
		return -1;
	if (plan->domains.count > 0 && plan->limits.box.container != CONTAINER_none)
		return err_set(e, ERR_invalid_argument,
		    "enable_network: programs in containers have no network; run without "
		    "use_container");
	return 0;
}

static int
read_code(struct plan *plan, struct execute_code *ask, struct err *e)
{
	uint64_t most = options.max_code_bytes;

	if (ask->usual_bytes > 0 && ask->usual_bytes < most && !settings_given("max_code_bytes"))
		most = ask->usual_bytes;
	if (ask->code.size > most)
		return err_set(e, ERR_code_too_large,
		    "code: %zu bytes are over this server's limit of %" PRIu64, ask->code.size,
		    most);
	if (memchr(ask->code.data, 0, ask->code.size) != NULL)
		return err_set(e, ERR_invalid_argument, "code: has a zero byte");
	hash_hex(ask->code.data, ask->code.size, plan->digest);
	plan->code = ask->code;
	ask->code = (struct blob){ 0 };
	plan->bytes = plan->code.size;
	return 0;
}

static int
read_file(struct plan_file *file, size_t i, struct input_file *from, struct err *e)
{
	char field[64];
	bool text = from->content.data != NULL, bytes = from->content_base64.data != NULL;
	struct blob *content = text ? &from->content : &from->content_base64;

	snprintf(field, sizeof field, "files[%zu].filename", i);
	if (text == bytes)
		return err_set(e, ERR_invalid_argument,
		    "files[%zu]: give either content or content_base64", i);
	if (content->size > options.max_upload_bytes)
		return err_set(e, ERR_file_too_large,
		    "files[%zu]: %zu bytes are over this server's limit of %" PRIu64, i,
		    content->size, options.max_upload_bytes);
	if ((file->path = path_check(field, from->filename, e)) == NULL)
		return -1;
	file->content = *content;
	*content = (struct blob){ 0 };
	return 0;
}

static int
read_files(struct plan *plan, struct execute_code *ask, struct err *e)
{
	if (ask->files.count == 0)
		return 0;
	plan->files = calloc(ask->files.count, sizeof *plan->files);
	if (plan->files == NULL)
		return err_sys(e, "files");
	plan->nfiles = ask->files.count;
	for (size_t i = 0; i < plan->nfiles; i++) {
		if (read_file(&plan->files[i], i, &ask->files.items[i], e) < 0)
			return -1;
		plan->bytes += plan->files[i].content.size;
	}
	if (plan->bytes - plan->code.size > plan->limits.room.bytes)
		return err_set(e, ERR_disk_full,
		    "files: %" PRIu64 " bytes in total are over the workspace's limit of %" PRIu64,
		    plan->bytes - plan->code.size, plan->limits.room.bytes);
	return 0;
}

/* Only the drivers of Python and Node have some. */
static unsigned
read_manners(const struct plan *plan, const struct execute_code *ask)
{
	if (plan->language != language_python)
		return plan->typed ? GUEST_TYPED : 0;
	return (ask->echo == echo_each ? GUEST_ECHO_EACH : 0) |
	       (ask->echo == echo_last ? GUEST_ECHO_LAST : 0) | (ask->fence ? GUEST_FENCE : 0);
}

static int
read_packages(
    struct plan *plan, struct execute_code *ask, const struct session *session, struct err *e)
{
	plan->packages = ask->packages;
	ask->packages = (struct texts){ 0 };
	if (plan->typed)
		return typescript_need(&plan->packages, session, e);
	plan->runs_without = plan->packages.count == 0;
	return plan->language == language_python && options.packages
	           ? pip_lines_take(&plan->code, &plan->packages, e)
	           : 0;
}

/* The profile that the policy gives to what names none; NULL: it gives none. */
static const char *
usual_profile(const struct rights *rights)
{
	return rights != NULL && rights->profiles.given && rights->profiles.names.count > 0
	           ? rights->profiles.names.items[0]
	           : NULL;
}

int
plan_read(struct plan *plan, struct execute_code *ask, const struct limits *limits,
    const struct session *session, const struct rights *rights, struct err *e)
{
	const char *profile =
	    session != NULL && session->profile != NULL ? session->profile : usual_profile(rights);
	const char *namespace = ask->namespace != NULL ? ask->namespace
	                        : session != NULL      ? session->namespace
	                                               : NULL;

	*plan = (struct plan){
		.capture = ask->capture_output,
		.contents = ask->contents,
		.lenient = ask->lenient,
		.fresh = ask->fresh,
		.namespace = namespace != NULL ? strdup(namespace) : NULL,
	};
	if (read_language(plan, ask->language, session, e) == 0 &&
	    read_limits(plan, ask, limits, session, e) == 0 &&
	    read_domains(plan, ask, session, e) == 0 &&
	    policy_read(&plan->policy, ask, plan->language, profile, e) == 0 &&
	    read_code(plan, ask, e) == 0 && read_files(plan, ask, e) == 0 &&
	    read_secrets(plan, ask, e) == 0 && read_invocation(plan, ask, session, e) == 0 &&
	    read_packages(plan, ask, session, e) == 0) {
		plan->policy.typed = plan->typed;
		plan->statement = session != NULL && runtime_at(plan->language)->driver;
		plan->manners = read_manners(plan, ask);
		plan->zygote =
		    pool_zygote(plan->language, plan->policy.profile, plan->limits.box.environment);
		return 0;
	}
	plan_clear(plan);
	return -1;
}

void
plan_clear(struct plan *plan)
{
	blob_clear(&plan->code);
	policy_clear(&plan->policy);
	free(plan->namespace);
	texts_clear(&plan->secrets);
	texts_clear(&plan->arguments);
	texts_clear(&plan->packages);
	blob_clear(&plan->input);
	texts_clear(&plan->domains);
	for (size_t i = 0; i < plan->nfiles; i++) {
		free(plan->files[i].path);
		blob_clear(&plan->files[i].content);
	}
	free(plan->files);
	*plan = (struct plan){ 0 };
}
