/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - runs the checker of CSV files in a box, and reads its report.
 *
 * Theory of operation.  bash replaces itself by the checker, whose standard input is the job.  The
 * box is a second one on the session's workspace, and the session's programs cannot reach into it.
 * It has a minute more than csv.c gives the largest workspace, so that the checker's own error
 * comes first.
 *
 * The report is decoded as strictly as a message of the bus: the file may have taken over the
 * program that reads it.
 */
#include "executor/run/check/table.h"

#include "executor/guest/csv/job.h"
#include "executor/sandbox/builder.h"
#include "executor/sandbox/sandbox.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/codec/wire.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
	BYTES_EACH_MS = 10 << 10, /* as validator/csv/csv.c */
	MORE_MS = 60000,
	ANSWER_BYTES = 8 << 20, /* a report of 8,192 columns is less */
	TMP_BYTES = 4 << 20,    /* for the job */
};

static uint64_t
most_ms(const struct limits *limits)
{
	return MORE_MS + limits->room.bytes / BYTES_EACH_MS;
}

/* Without a cgroup, the pages of the file that are mapped count as the box's own. */
struct limits
table_limits(const struct workspace_limits *room)
{
	struct limits limits = limits_default;

	limits.room = *room;
	limits.box.tmp_bytes = TMP_BYTES;
	if (strcmp(builder_isolation()->limits_by, "rlimit") == 0)
		limits.box.memory_bytes += room->bytes;
	return limits;
}

/* ---- the job ---- */

static void
put_part(FILE *to, const void *data, size_t size)
{
	uint64_t number = size;

	fwrite(&number, sizeof number, 1, to);
	fwrite(data, 1, size, to);
}

static int
put_request(FILE *to, struct validate_csv_data *request, struct err *e)
{
	struct packed packed;
	struct blob flat;

	if (wire_encode(MSG_validate_csv_data, request, &packed, e) < 0)
		return -1;

	int status = wire_flatten(&packed, &flat, e);

	packed_clear(&packed);
	if (status == 0) {
		put_part(to, flat.data, flat.size);
		blob_clear(&flat);
	}
	return status;
}

static int
write_job(struct blob *job, const struct table_ask *ask, struct err *e)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, &job->size);

	if (to == NULL)
		return err_sys(e, "write a check");
	put_part(to, ask->path, strlen(ask->path));

	int status = put_request(to, ask->request, e);

	for (size_t i = 0; i < ask->known->count; i++)
		put_part(to, ask->known->items[i].data, ask->known->items[i].size);
	if (fclose(to) != 0 && status == 0)
		status = err_sys(e, "write a check");
	job->data = text;
	return status;
}

/* ---- its answer ---- */

int
table_read(const struct blob *answer, struct csv_report *report, struct err *e)
{
	struct packed packed;
	int status = wire_raise(answer, &packed, e);

	if (status == 0) {
		status = wire_decode(MSG_csv_report, &packed, report, e);
		packed_clear(&packed);
	}
	if (status == 0 && report->valid != (report->error_count == 0)) {
		message_clear(MSG_csv_report, report);
		status = err_set(e, ERR_invalid_argument, "a verdict that the errors contradict");
	}
	return status;
}

/* The text may be forged; the code is one that the caller's own file or request can cause. */
static int
say_error(const struct box_end *end, struct err *e)
{
	struct blob text = utf8_mend(end->out.data, end->out.size);

	err_set(e, job_errors[end->exit_code - JOB_FAILED], "%s",
	    text.data != NULL ? (const char *)text.data : "");
	utf8_tame(e->text);
	blob_clear(&text);
	return -1;
}

static int
say_end(const struct box_end *end, struct err *e)
{
	bool exited = end->how == BOX_EXITED;

	if (end->lost.code != ERR_none) {
		*e = end->lost;
		return -1;
	}
	if (end->how == BOX_TIMED_OUT || end->how == BOX_OUT_OF_CPU)
		return err_set(e, ERR_limit_exceeded, "path: the check took too long");
	if (end->how == BOX_OUT_OF_MEMORY)
		return err_set(e, ERR_limit_exceeded,
		    "path: the check needs more memory than a program may use (memory_mb)");
	if (exited && end->exit_code >= JOB_FAILED &&
	    end->exit_code < JOB_FAILED + (int)COUNT(job_errors))
		return say_error(end, e);
	log_warn("a checker failed", LOG_N("how", end->how), LOG_N("exit_code", end->exit_code));
	return err_set(e, ERR_internal, "path: the program that checks it failed");
}

static int
read_end(const struct box_end *end, struct csv_report *report, struct err *e)
{
	bool whole = end->how == BOX_EXITED && end->exit_code == 0 && end->out_dropped == 0;

	return whole && table_read(&end->out, report, e) == 0 ? 0 : say_end(end, e);
}

/* ---- steps ---- */

static void
gone(void *self)
{
	struct table ended = *(struct table *)self;
	bool failed = ended.why.code != ERR_none;

	redact_free(ended.redact);
	if (ended.job.data != NULL)
		sodium_memzero(ended.job.data, ended.job.size);
	blob_clear(&ended.job);
	ended.done(ended.self, failed ? NULL : &ended.report, failed ? &ended.why : NULL);
	message_clear(MSG_csv_report, &ended.report);
}

static void
finish(struct table *table)
{
	if (table->sandbox == NULL)
		gone(table);
	else
		sandbox_end(table->sandbox, gone, table);
}

static void
code_done(void *self, struct box_end *end, const struct err *e)
{
	struct table *table = self;

	table->runs = false;
	if (table->why.code == ERR_none && e != NULL)
		table->why = *e;
	if (table->why.code == ERR_none)
		read_end(end, &table->report, &table->why);
	finish(table);
}

static int
run_checker(struct table *table, const struct limits *limits, struct err *e)
{
	static const struct sandbox_events events = { NULL, code_done };
	static const char program[] = "exec " JOB_PROGRAM "\n";
	const struct sandbox_code code = {
		.language = language_shell,
		.code = {
			.data = program,
			.size = sizeof program - 1,
			.files = true,
			.wall_ms = most_ms(limits),
			.cpu_ms = most_ms(limits),
			.output_bytes = ANSWER_BYTES,
			.redact = table->redact,
			.input = &table->job,
		},
	};

	return sandbox_run(table->sandbox, &code, &events, table, e);
}

static int
begin(struct table *table, const struct table_ask *ask, struct err *e)
{
	if (write_job(&table->job, ask, e) < 0)
		return -1;
	table->sandbox = sandbox_new(SANDBOX_ALONE, ask->workspace, &ask->limits->box);
	if (table->sandbox == NULL)
		return err_sys(e, "sandbox");
	return run_checker(table, ask->limits, e);
}

void
table_begin(struct table *table, const struct table_ask *ask)
{
	*table = (struct table){
		.redact = redact_share(ask->known->redact), .done = ask->done, .self = ask->self
	};
	table->runs = begin(table, ask, &table->why) == 0;
	if (!table->runs)
		finish(table);
}

void
table_cancel(struct table *table, enum err_code code, const char *why)
{
	if (table->why.code != ERR_none)
		return;
	err_set(&table->why, code, "%s", why);
	if (table->runs)
		sandbox_kill(table->sandbox);
}
