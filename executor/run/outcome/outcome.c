/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.c - converts the end of a run to the reply.
 *
 * Bytes and texts in a box_end are a hostile program's: output is converted to valid UTF-8, and
 * everything is truncated to the bounds of a reply.
 */
#include "executor/run/outcome/outcome.h"

#include "executor/options.h"
#include "executor/run/outcome/diagnosis.h"
#include "executor/sandbox/workspace.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_PAGE = 10485760, /* of schema.def */
	MAX_MESSAGE = 4096,
	MAX_TYPE = 256,
};

/* ---- output ---- */

/* Marks the place of missing bytes, so that the halves are not read as one text. */
static const char gap[] = "[... the middle was left out ...]";

/* The box dropped the middle: half of the kept bytes are from the front. */
static struct blob
mark(const struct blob *from)
{
	size_t gap_size = sizeof gap - 1, front = from->size - from->size / 2;
	struct blob both = { .size = from->size + gap_size };
	char *to = both.data = malloc(both.size);

	if (to == NULL)
		return both;
	to = mempcpy(to, from->data, front);
	to = mempcpy(to, gap, gap_size);
	memcpy(to, (const char *)from->data + front, from->size - front);
	return both;
}

/* Conversion to UTF-8 may turn one byte into three; if the page gets too long, more of the
 * middle is dropped. */
static int
fill_page(struct blob *page, const struct blob *from, bool *truncated, struct err *e)
{
	struct blob marked = *truncated ? mark(from) : *from;
	bool cut = false;

	if (marked.data != NULL || !*truncated)
		*page = utf8_fit(marked.data, marked.size, MAX_PAGE, gap, &cut);
	if (*truncated)
		blob_clear(&marked);
	*truncated = *truncated || cut;
	return page->data != NULL ? 0 : err_sys(e, "output");
}

static int
fill_output(
    struct execution *reply, const struct box_end *end, const struct plan *plan, struct err *e)
{
	if (!plan->capture)
		return 0;
	reply->stdout_truncated = end->out_dropped > 0;
	reply->stderr_truncated = end->err_dropped > 0;
	if (fill_page(&reply->stdout, &end->out, &reply->stdout_truncated, e) < 0 ||
	    fill_page(&reply->stderr, &end->err, &reply->stderr_truncated, e) < 0)
		return -1;
	if (reply->stdout_truncated || reply->stderr_truncated) {
		char note[512];

		snprintf(note, sizeof note,
		    "output_truncated: output over %" PRIu64
		    " bytes was cut in the middle; %" PRIu64 " bytes of stdout and %" PRIu64
		    " of stderr are missing. %s resource_limits.max_output_bytes may be at most "
		    "%" PRIu64 ".",
		    plan->limits.box.output_bytes, end->out_dropped, end->err_dropped,
		    err_remedy(ERR_output_truncated), options.max_output_bytes);
		return texts_add(&reply->notes, note) < 0 ? err_sys(e, "notes") : 0;
	}
	return 0;
}

/* ---- why it failed ---- */

/* A copy of at most max bytes, cut between characters. */
static char *
copy_cut(const char *text, size_t max)
{
	size_t size = strnlen(text, max + 1);

	if (size > max)
		for (size = max; size > 0 && utf8_inside(text, size, max + 1);)
			size--;
	return strndup(text, size);
}

/* A tmpfs allocates at least one page. */
static bool
is_full(const struct workspace_limits *left)
{
	return left->bytes < 4096 || left->files == 0;
}

static enum err_code
code_of(const struct box_end *end, const struct workspace_limits *left)
{
	enum err_code code;

	switch (end->how) {
	case BOX_TIMED_OUT:
	case BOX_OUT_OF_CPU:
		return ERR_timeout;
	case BOX_OUT_OF_MEMORY:
		return ERR_out_of_memory;
	case BOX_KILLED:
		return ERR_cancelled;
	case BOX_SIGNALLED:
		return end->too_many_processes ? ERR_too_many_processes : ERR_killed;
	case BOX_EXITED:
		break;
	}
	if (end->exit_code == 0)
		return ERR_none;
	if (end->too_many_processes)
		return ERR_too_many_processes;
	code = diagnosis_code(end);
	return code == ERR_program_failed && is_full(left) && diagnosis_may_be_space(end)
	           ? ERR_disk_full
	           : code;
}

static char *
signal_name(int number)
{
	const char *abbreviation = sigabbrev_np(number);
	char name[32];

	if (abbreviation != NULL)
		snprintf(name, sizeof name, "SIG%s", abbreviation);
	else
		snprintf(name, sizeof name, "signal %d", number);
	return strdup(name);
}

static char *say(const char *fmt, ...) PRINTF(1, 2);

static char *
say(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return strdup(text);
}

static char *
message_of_time(const struct box_end *end, const struct limits *limits)
{
	if (end->how == BOX_OUT_OF_CPU)
		return say("stopped at its limit of %g s of processor time",
		    (double)limits->box.cpu_ms / 1000);
	return say("stopped at its time limit of %g s", (double)limits->box.wall_ms / 1000);
}

static char *
message_of_memory(const struct box_end *end, const struct limits *limits)
{
	/* An interpreter whose request for memory is refused has not used that memory. */
	const char *did = end->how == BOX_EXITED ? "requested" : "used";
	char most[64] = "";

	if (end->how == BOX_OUT_OF_MEMORY && end->locks > 0)
		return say("the program held at least %" PRIu32
			   " file locks (fcntl, lockf), more than all programs together may hold; "
			   "locks use the host's memory",
		    end->locks);
	if (end->max_memory_bytes > 0)
		snprintf(most, sizeof most, "; its peak was %" PRIu64 ", including its files",
		    end->max_memory_bytes);
	return say("the program %s more memory than its limit of %" PRIu64 " bytes%s", did,
	    limits->box.memory_bytes, most);
}

/* Files outside the workspace are in memory of their own, as far as a program can write there at
 * all. */
static char *
message_of_space(const struct workspace_limits *left, const struct limits *limits)
{
	if (left->bytes < 4096)
		return say("no space left: the workspace has reached its limit of %" PRIu64
			   " bytes",
		    limits->room.bytes);
	if (left->files == 0)
		return say("no space left: the workspace has reached its limit of %" PRIu64
			   " files and directories",
		    limits->room.files);
	return say("no space left: /tmp and /dev/shm together have reached their limit of %" PRIu64
		   " bytes; the workspace has %" PRIu64 " of %" PRIu64 " bytes and %" PRIu64
		   " of %" PRIu64 " files left",
	    limits->box.tmp_bytes, left->bytes, limits->room.bytes, left->files,
	    limits->room.files);
}

/* The text for the limit that was hit; NULL: none was. */
static char *
message_of_limit(enum err_code code, const struct box_end *end, const struct plan *plan,
    const struct workspace_limits *left)
{
	const struct limits *limits = &plan->limits;

	switch (code) {
	case ERR_timeout:
		return message_of_time(end, limits);
	case ERR_out_of_memory:
		return message_of_memory(end, limits);
	case ERR_too_many_processes:
		return say(
		    "the program started more processes or threads than its limit of %" PRIu64,
		    limits->box.processes);
	case ERR_disk_full:
		return message_of_space(left, limits);
	default:
		return NULL;
	}
}

static char *
message_of(enum err_code code, const struct box_end *end, const struct plan *plan,
    const struct workspace_limits *left)
{
	char *limit = message_of_limit(code, end, plan, left);

	if (limit != NULL)
		return limit;
	if (end->how == BOX_EXITED && end->error_text != NULL)
		return copy_cut(end->error_text, MAX_MESSAGE);
	if (end->how == BOX_EXITED)
		return say("ended with exit code %d", end->exit_code);
	if (code == ERR_cancelled)
		return say("stopped before it finished");
	return say("ended by signal %d (%s)%s", end->signal, sigdescr_np(end->signal),
	    end->signal == SIGSYS ? ": it made a system call that is not allowed here" : "");
}

/* For a failed program about which nothing else is known. */
static const char *
hint_of_failure(const struct box_end *end, const struct plan *plan)
{
	if (!plan->capture)
		return "Correct the program and run it again with capture_output=true, which "
		       "returns its output.";
	if (end->err.size > 0 || end->error_type != NULL)
		return err_remedy(ERR_program_failed);
	return "The program wrote nothing to stderr. Any exit code other than 0 counts as a "
	       "failure. If it is not a failure, as when grep finds no match, end the program with "
	       "exit code 0.";
}

/* What to do next, and up to which cap; the box of a session cannot be changed. */
static char *
hint_of(enum err_code code, const struct box_end *end, const struct plan *plan,
    const struct workspace_limits *left, bool in_session)
{
	const char *remedy = err_remedy(code);
	const char *where = plan->statement ? " of create_session" : "";

	if (end->how == BOX_OUT_OF_MEMORY && end->locks > 0)
		return say("Lock whole files or long ranges instead of single bytes, and release "
			   "locks that are no longer needed.");
	if (end->how == BOX_OUT_OF_CPU)
		return say("Make the program faster, or request more processor time with "
			   "resource_limits.max_cpu_seconds.");
	switch (code) {
	case ERR_timeout:
		return say("%s timeout may be at most %g.", remedy, options.max_timeout);
	case ERR_out_of_memory:
		return say("%s resource_limits.max_ram_mb%s may be at most %" PRIu64 ".", remedy,
		    where, options.max_memory_mb);
	case ERR_too_many_processes:
		return say("%s resource_limits.max_processes%s may be at most %" PRIu64 ".", remedy,
		    where, options.max_processes);
	case ERR_disk_full:
		if (!is_full(left))
			return say("Write large files to /workspace, or delete files in /tmp and "
				   "/dev/shm. The operator's setting tmp_bytes limits these two.");
		return say("%s resource_limits.max_disk_mb%s may be at most %" PRIu64
			   ", max_files %" PRIu64 ".",
		    remedy, where, options.max_workspace_mb, options.max_workspace_files);
	default:
		break;
	}
	if (diagnosis_too_many_files(end))
		return say("The program reached its limit of %" PRIu64
			   " open files. Close some, or request more: "
			   "resource_limits.max_open_files%s may be at most %" PRIu64 ".",
		    plan->limits.box.open_files, where, options.max_open_files);

	char *known = code == ERR_program_failed || code == ERR_syntax_error
	                  ? diagnosis_hint(end, in_session)
	                  : NULL;

	if (known != NULL)
		return known;
	if (code == ERR_killed && plan->capture && end->err.size == 0)
		remedy = "The program wrote nothing to stderr. Print its progress to see where it "
			 "is killed.";
	return strdup(code == ERR_program_failed ? hint_of_failure(end, plan) : remedy);
}

/* The program was refused processes, but that is not the reported reason of its end. */
static int
note_processes(struct execution *reply, enum err_code code, const struct box_end *end,
    const struct plan *plan, struct err *e)
{
	char note[256];

	if (code == ERR_too_many_processes ||
	    !(end->too_many_processes ||
		(code == ERR_timeout && diagnosis_code(end) == ERR_too_many_processes)))
		return 0;
	snprintf(note, sizeof note,
	    "too_many_processes: the program was refused processes or threads over its limit of "
	    "%" PRIu64 ". %s resource_limits.max_processes%s may be at most %" PRIu64 ".",
	    plan->limits.box.processes, err_remedy(ERR_too_many_processes),
	    plan->statement ? " of create_session" : "", options.max_processes);
	return texts_add(&reply->notes, note) < 0 ? err_sys(e, "notes") : 0;
}

/* The run succeeded or failed for another reason, but the next run may fail because of this. */
static int
note_full(struct execution *reply, const struct plan *plan, struct err *e)
{
	char note[256];

	snprintf(note, sizeof note,
	    "disk_full: the workspace is full; its limits are %" PRIu64 " bytes and %" PRIu64
	    " files.",
	    plan->limits.room.bytes, plan->limits.room.files);
	return texts_add(&reply->notes, note) < 0 ? err_sys(e, "notes") : 0;
}

static int
fill_error(struct execution *reply, const struct box_end *end, const struct plan *plan,
    const struct workspace_limits *left, struct err *e)
{
	enum err_code code = code_of(end, left);
	bool uncaught = end->how == BOX_EXITED && end->error_type != NULL;

	reply->success = code == ERR_none;
	reply->timed_out = code == ERR_timeout;
	reply->exit_code = end->how == BOX_EXITED ? end->exit_code : -1;
	if (end->how != BOX_EXITED && end->signal > 0)
		reply->signal = signal_name(end->signal);
	if (note_processes(reply, code, end, plan, e) < 0)
		return -1;
	if (code != ERR_disk_full && is_full(left) && note_full(reply, plan, e) < 0)
		return -1;
	if (reply->success)
		return 0;
	reply->error = calloc(1, sizeof *reply->error);
	if (reply->error == NULL)
		return err_sys(e, "error");
	*reply->error = (struct problem){
		.code = strdup(err_name(code)),
		.message = message_of(code, end, plan, left),
		.type = uncaught && end->error_type[0] != 0 ? copy_cut(end->error_type, MAX_TYPE)
		                                            : NULL,
		.line = end->error_line <= 10000000 ? end->error_line : 0,
		.hint = hint_of(code, end, plan, left, reply->session_id != NULL),
	};
	return 0;
}

/* ---- the rest ---- */

static int
fill_usage(struct execution *reply, const struct box_end *end, struct err *e)
{
	reply->usage = calloc(1, sizeof *reply->usage);
	reply->isolation = calloc(1, sizeof *reply->isolation);
	if (reply->usage == NULL || reply->isolation == NULL)
		return err_sys(e, "usage");
	*reply->usage = (struct usage){
		.wall_ms = end->wall_ms,
		.cpu_ms = end->cpu_ms,
		.max_memory_bytes = end->max_memory_bytes,
		.start = strdup(end->warm ? "warm" : "cold"),
	};
	return 0;
}

/* Reports what happened to a session's variables. */
static int
fill_state(
    struct execution *reply, const struct box_end *end, const struct plan *plan, struct err *e)
{
	static const char lost[] =
	    "The interpreter of this session had ended, and a new one ran this code: earlier "
	    "variables and imports are lost, files are kept.";
	static const char gone[] =
	    "The interpreter of this session ended, and the next call starts a new one: variables "
	    "and imports are lost, files are kept.";
	static const char kept[] =
	    "The code was interrupted; variables, imports and files are kept.";
	const char *now = end->program_gone ? gone : end->how != BOX_EXITED ? kept : NULL;

	if (!plan->statement)
		return 0;
	if ((end->restarted && texts_add(&reply->notes, lost) < 0) ||
	    (now != NULL && texts_add(&reply->notes, now) < 0))
		return err_sys(e, "notes");
	return 0;
}

/* Reports processes that did not end with the run. */
static int
fill_survivors(
    struct execution *reply, const struct box_end *end, const struct plan *plan, struct err *e)
{
	static const char live[] = "A process, timer or socket of this code is still active: what "
				   "it writes comes with the "
				   "next call of this session.";
	static const char unread[] =
	    "A process that this code started still runs, and nothing reads what it writes: the "
	    "interpreter that started it has ended.";
	static const char ended[] =
	    "A process that this code started could still write 100 ms after the code had ended, "
	    "and was ended: let the code wait for it (wait, Popen.wait()), or use a session.";
	const char *note = !plan->statement ? ended : end->program_gone ? unread : live;

	return end->survived && texts_add(&reply->notes, note) < 0 ? err_sys(e, "notes") : 0;
}

static int
fill_rich(struct execution *reply, struct box_end *end, struct err *e)
{
	for (size_t i = 0; i < end->nrich; i++) {
		struct rich *rich = list_add(&reply->rich, sizeof *rich);

		if (rich == NULL)
			return err_sys(e, "rich");
		rich->mime_type = take_ptr(end->rich[i].mime_type);
		rich->data = end->rich[i].data;
		end->rich[i].data = (struct blob){ 0 };
	}
	end->nrich = 0;
	return 0;
}

size_t
outcome_bytes(const struct box_end *end)
{
	size_t sum = end->out.size + end->err.size;

	for (size_t i = 0; i < end->nrich; i++)
		sum += end->rich[i].data.size;
	return sum;
}

int
outcome_fill(struct execution *reply, struct box_end *end, const struct plan *plan,
    const struct workspace_limits *left, struct err *e)
{
	if (diagnosis_read(end, e) < 0 || fill_error(reply, end, plan, left, e) < 0 ||
	    fill_output(reply, end, plan, e) < 0 || fill_usage(reply, end, e) < 0 ||
	    fill_state(reply, end, plan, e) < 0 || fill_survivors(reply, end, plan, e) < 0 ||
	    fill_rich(reply, end, e) < 0)
		return -1;
	reply->execution_time = rint(end->wall_ms * 1000) / 1e6; /* rounded to microseconds */
	reply->result = end->result;
	reply->variables = end->variables;
	*reply->isolation = end->isolation;
	end->result = (struct blob){ 0 };
	end->variables = (struct texts){ 0 };
	end->isolation = (struct isolation){ 0 };
	return 0;
}

static bool
failed_by(const struct execution *reply, enum err_code code)
{
	return reply->error != NULL && strcmp(reply->error->code, err_name(code)) == 0;
}

enum event
outcome_event(const struct execution *reply)
{
	if (reply->success)
		return event_execution_completed;
	return failed_by(reply, ERR_timeout)     ? event_execution_timeout
	       : failed_by(reply, ERR_cancelled) ? event_execution_cancelled
	                                         : event_execution_failed;
}

bool
outcome_exceeded(const struct execution *reply)
{
	return failed_by(reply, ERR_out_of_memory) || failed_by(reply, ERR_too_many_processes) ||
	       failed_by(reply, ERR_disk_full);
}
