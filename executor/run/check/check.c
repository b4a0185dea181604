/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - hands code to the checkers of guest/check/, in a box of Node, and reads their report.
 *
 * Theory of operation.  The program of the box is one call of main.js.  Everything in it that a
 * client chose is base64, so it cannot end the literal that holds it.  The checkers write a
 * flattened message to stdout, which is decoded as strictly as one of the bus: the code may have
 * taken over the program that reads it.
 *
 * The box has the default limits, so that one of the pool can be taken: best one in which the
 * checker is loaded and its programs wait, else one of Node. Each is used once, because what read
 * one principal's code could forge the report on another's.
 */
#include "executor/run/check/check.h"

#include "executor/packages/install.h"
#include "executor/run/check/checker.h"
#include "executor/run/limits.h"
#include "executor/run/pool.h"
#include "executor/run/typescript.h"
#include "executor/runtime.h"
#include "executor/sandbox/workspace.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/codec/base64.h"
#include "common/codec/wire.h"

#include <stdio.h>
#include <string.h>

enum {
	WALL_MS = 20000,
	CPU_MS = 20000,
	ANSWER_BYTES = 8 << 20, /* a report and 2 MiB of fixed code are less */
	TOO_MUCH = 3,           /* exit status of main.js */
	WORDS = 256,
};

struct check {
	struct pool_wait wait;
	struct install *install;      /* under way; NULL: not */
	struct package_set *packages; /* that the box gets; NULL: none */
	struct limits limits;
	struct blob program;
	struct workspace *workspace;
	struct sandbox *sandbox;
	unsigned checker; /* language of a runtime that names it */
	bool prepared;    /* the sandbox has a loaded checker */
	bool runs;
	struct err over; /* why it was cancelled */
	void (*done)(void *self, void *report, const struct err *);
	void *self;
};

bool
check_knows(unsigned language)
{
	return language == language_node || language == language_shell;
}

/* ---- the program ---- */

static int
put_base64(FILE *to, const void *data, size_t size)
{
	auto_free char *text = malloc(base64_room(size));

	if (text == NULL)
		return -1;

	size_t letters = base64_write(text, data, size);

	putc('"', to);
	fwrite(text, 1, letters, to);
	putc('"', to);
	return 0;
}

/* Ends each with a line feed; a name with one in it becomes two that no import has. */
static int
put_names(FILE *to, const struct texts *names)
{
	auto_free char *text = NULL;
	size_t size = 0;

	if (names->items == NULL) {
		fputs("null", to);
		return 0;
	}

	FILE *lines = open_memstream(&text, &size);

	if (lines == NULL)
		return -1;
	for (size_t i = 0; i < names->count; i++)
		fprintf(lines, "%s\n", names->items[i]);
	return fclose(lines) == 0 ? put_base64(to, text, size) : -1;
}

/* The names of the bits that are set, joined by commas. */
static void
join(char to[WORDS], unsigned bits, const char *const *names, size_t count)
{
	size_t used = 0;

	to[0] = '\0';
	for (size_t i = 0; i < count && used < WORDS; i++)
		if ((bits & 1u << i) != 0)
			used += (size_t)snprintf(
			    to + used, WORDS - used, "%s%s", used > 0 ? "," : "", names[i]);
}

static int
put_ask(FILE *to, const struct check_ask *ask)
{
	static const char *const powers[] = {
#define POWER(id, doc) #id,
#include "common/profile/profiles.def"
	};
	const char *profiles[PROFILE_COUNT];
	char lists[WORDS], can[WORDS];
	bool open = profile_is_open(ask->set);

	for (size_t i = 0; i < PROFILE_COUNT; i++)
		profiles[i] = profile_name((enum profile)i);
	join(lists, open ? 0 : ask->set->lists, profiles, PROFILE_COUNT);
	join(can, ask->set->powers, powers, COUNT(powers));
	fprintf(to,
	    CHECKER_MODULE ".main({language:\"%s\",profile:\"%s\",lists:\"%s\","
			   "powers:\"%s\",open:%d>0,auto_fix:%d>0,only:",
	    word_text(SET_code_language, (int)ask->language), ask->set->title, lists, can, open,
	    ask->auto_fix);
	if (put_names(to, ask->only) < 0)
		return -1;
	fputs(",code:", to);
	if (put_base64(to, ask->code.data, ask->code.size) < 0)
		return -1;
	fputs("},module)", to);
	return 0;
}

static int
write_program(const struct check_ask *ask, struct blob *program, struct err *e)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, &program->size);
	int status = to == NULL ? -1 : put_ask(to, ask);

	if (to != NULL && fclose(to) != 0)
		status = -1;
	program->data = text;
	return status == 0 ? 0 : err_sys(e, "write a check");
}

/* ---- its answer ---- */

int
check_read(const struct blob *answer, struct validation_report *report, struct err *e)
{
	struct packed packed;
	int status = wire_raise(answer, &packed, e);

	if (status == 0) {
		status = wire_decode(MSG_validation_report, &packed, report, e);
		packed_clear(&packed);
	}
	if (status == 0 && report->validation->valid != (report->findings.count == 0)) {
		message_clear(MSG_validation_report, report);
		status = err_set(e, ERR_invalid_argument, "a verdict that the findings contradict");
	}
	return status;
}

static int
read_end(const struct box_end *end, struct validation_report *report, struct err *e)
{
	bool exited = end->how == BOX_EXITED;

	if (exited && end->exit_code == 0 && end->out_dropped == 0 &&
	    check_read(&end->out, report, e) == 0)
		return 0;
	if (end->lost.code != ERR_none) {
		*e = end->lost;
		return -1;
	}
	if ((exited && end->exit_code == TOO_MUCH) || end->how == BOX_TIMED_OUT ||
	    end->how == BOX_OUT_OF_CPU || end->how == BOX_OUT_OF_MEMORY)
		return err_set(
		    e, ERR_limit_exceeded, "code: too long or nested too deeply for a check");
	log_warn("a checker failed", LOG_N("how", end->how), LOG_N("exit_code", end->exit_code));
	return err_set(e, ERR_internal, "code: the program that checks it failed");
}

/* ---- steps ---- */

static void
discard(struct check *check)
{
	sandbox_wipe(check->sandbox, check->workspace);
	package_set_put(check->packages);
	blob_clear(&check->program);
	free(check);
}

static void
finish(struct check *check, struct validation_report *report, const struct err *e)
{
	struct check ended = *check;

	discard(check);
	ended.done(ended.self, report, e);
}

/* true: the check is over, and this call has finished it. */
static bool
failed(struct check *check, const struct err *e)
{
	struct err why = check->over;

	if (why.code == ERR_none && e != NULL)
		why = *e;
	if (why.code == ERR_none)
		return false;
	finish(check, NULL, &why);
	return true;
}

static void
code_done(void *self, struct box_end *end, const struct err *e)
{
	struct check *check = self;
	struct validation_report report = { 0 };
	struct err why;

	check->runs = false;
	if (failed(check, e))
		return;
	must(end != NULL);
	if (read_end(end, &report, &why) < 0)
		finish(check, NULL, &why);
	else
		finish(check, &report, NULL);
	message_clear(MSG_validation_report, &report);
}

static int
run_checker(struct check *check, struct err *e)
{
	static const struct sandbox_events events = { NULL, code_done };
	const struct sandbox_code code = {
		.language = language_node,
		.code = {
			.data = check->program.data,
			.size = check->program.size,
			.statement = check->prepared,
			.wall_ms = WALL_MS,
			.cpu_ms = CPU_MS,
			.output_bytes = ANSWER_BYTES,
		},
	};

	check->runs = sandbox_run(check->sandbox, &code, &events, check, e) == 0;
	return check->runs ? 0 : -1;
}

static void
box_ready(void *self, const struct err *e)
{
	struct check *check = self;
	struct err why;

	if (!failed(check, e) && run_checker(check, &why) < 0)
		finish(check, NULL, &why);
}

/* Gives the sandbox, which may have to be made, the packages, and runs the checker in it. */
static int
use_box(struct check *check, struct err *e)
{
	if (check->sandbox == NULL)
		check->sandbox = sandbox_new(SANDBOX_ALONE, check->workspace, &check->limits.box);
	if (check->sandbox == NULL)
		return err_sys(e, "sandbox");
	return check->packages == NULL
	           ? run_checker(check, e)
	           : sandbox_mount(
			 check->sandbox, package_set_mounts(check->packages), box_ready, check, e);
}

static void
workspace_ready(void *self, struct workspace *workspace, const struct err *e)
{
	struct check *check = self;
	struct err why;

	check->workspace = workspace;
	if (!failed(check, workspace == NULL ? e : NULL) && use_box(check, &why) < 0)
		finish(check, NULL, &why);
}

static void
box_came(void *self, struct workspace *workspace, struct sandbox *sandbox)
{
	struct check *check = self;

	check->sandbox = sandbox;
	if (sandbox == NULL)
		workspace_make(&check->limits.room, workspace_ready, check);
	else
		workspace_ready(check, workspace, NULL);
}

static bool
take(enum sandbox_kind kind, uint32_t zygote, struct check *check)
{
	return pool_take(
	    kind, language_node, zygote, &check->limits, &check->workspace, &check->sandbox);
}

static int
find_box(struct check *check, struct err *e)
{
	check->prepared = take(SANDBOX_SESSION, POOL_CHECKER + check->checker, check);
	if (check->prepared || take(SANDBOX_ALONE, 0, check))
		return use_box(check, e);
	if (!pool_wait(SANDBOX_ALONE, language_node, 0, &check->limits, &check->wait))
		workspace_make(&check->limits.room, workspace_ready, check);
	return 0;
}

/* ---- TypeScript ---- */

static void
installed(void *self, struct package_set *set, struct packages_installed *list, const struct err *e)
{
	struct check *check = self;
	struct err why;

	(void)list;
	check->install = NULL;
	check->packages = set;
	if (!failed(check, set == NULL ? e : NULL) && find_box(check, &why) < 0)
		finish(check, NULL, &why);
}

static int
install(struct check *check, const struct event_owner *owner, struct err *e)
{
	struct texts packages = { 0 };
	const struct install_ask ask = {
		.language = language_node,
		.packages = &packages,
		.owner = *owner,
		.done = installed,
		.self = check,
	};

	if (typescript_need(&packages, NULL, e) == 0)
		check->install = install_begin(&ask, e);
	texts_clear(&packages);
	return check->install != NULL ? 0 : -1;
}

/* ---- a check ---- */

struct check *
check_begin(const struct check_ask *ask, struct err *e)
{
	struct check *check = calloc(1, sizeof *check);
	bool typed = ask->language == code_language_typescript;

	if (check == NULL) {
		err_sys(e, "check");
		return NULL;
	}
	*check = (struct check){ .done = ask->done, .self = ask->self, .limits = limits_default };
	check->wait = (struct pool_wait){ .come = box_came, .self = check };
	check->checker = typed ? language_node : ask->language;
	if (!runtime_at(language_node)->present)
		err_set(e, ERR_runtime_missing,
		    "language: a check of it needs Node, which is not installed on this server");
	else if (write_program(ask, &check->program, e) == 0 &&
		 (typed ? install(check, &ask->owner, e) : find_box(check, e)) == 0)
		return check;
	discard(check);
	return NULL;
}

void
check_cancel(struct check *check)
{
	if (check->over.code != ERR_none)
		return;
	err_set(&check->over, ERR_cancelled, "the caller no longer waits for it");
	if (check->install != NULL)
		install_cancel(check->install);
	else if (check->runs)
		sandbox_kill(check->sandbox);
}
