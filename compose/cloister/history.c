/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.c - makes runs of the records of the audit log, which has one of a run's start and one of
 * its end.
 *
 * Texts of records are tamed before they are printed: details can name what a program chose.
 */
#include "compose/cloister/history.h"

#include "compose/cloister/client.h"
#include "compose/cloister/show.h"
#include "compose/cloister/transfer.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

enum {
	TOOL_FAILED = 1,
	RUNS = 20,
	PAGE = 1000, /* records that are asked for at once, at most, */
	RECORDS = 4, /* and so many for a run */
	DIGITS = 12, /* of a digest, in the list */
};

#define COLUMNS "runs:time_ms,execution_id,language,state,wall_ms,error,session_id,sha256"

struct history {
	struct words words;
	struct transfer transfer;
	json_t *runs, *by_id; /* the same objects */
	size_t most;
};

static void
end(struct history *h)
{
	json_decref(h->words.arguments);
	json_decref(h->runs);
	json_decref(h->by_id);
}

/* ---- runs of records ---- */

static json_t *
run_of(struct history *h, const char *id)
{
	json_t *run = json_object_get(h->by_id, id);

	if (run != NULL || json_array_size(h->runs) >= h->most)
		return run;
	run = json_pack("{s:s}", "execution_id", id);
	must(run != NULL && json_object_set_new(h->by_id, id, run) == 0 &&
	     json_array_append(h->runs, run) == 0);
	return run;
}

/* Records come newest first: the end of a run before its start, which has the time that counts. */
static void
copy_members(json_t *run, const json_t *event)
{
	static const char *const names[][2] = { { "language", "language" },
		{ "session_id", "session_id" }, { "namespace", "namespace" },
		{ "sha256", "sha256" }, { "size", "size" }, { "code", "error" },
		{ "detail", "detail" } };
	double ms = json_number_value(json_object_get(event, "wall_ms"));

	must(json_object_set(run, "time_ms", json_object_get(event, "time_ms")) == 0);
	for (size_t i = 0; i < COUNT(names); i++) {
		json_t *value = json_object_get(event, names[i][0]);

		if (json_object_get(run, names[i][1]) == NULL &&
		    json_is_string(value) + json_is_integer(value) > 0)
			must(json_object_set(run, names[i][1], value) == 0);
	}
	if (ms > 0)
		must(
		    json_object_set_new(run, "wall_ms", json_integer((json_int_t)(ms + 0.5))) == 0);
}

static void
add_record(struct history *h, const json_t *event)
{
	static const char kind[] = "execution.";
	const char *id = json_string_value(json_object_get(event, "execution_id"));
	const char *what = json_string_value(json_object_get(event, "event"));
	json_t *run;

	if (id == NULL || what == NULL ||
	    (strncmp(what, kind, sizeof kind - 1) != 0 && strcmp(what, "policy.violation") != 0) ||
	    (run = run_of(h, id)) == NULL)
		return;
	copy_members(run, event);
	if (json_object_get(run, "state") == NULL)
		must(json_object_set_new(run, "state",
			 json_string(strcmp(what, "execution.started") == 0 ? "running"
				     : *what == 'e'                         ? what + sizeof kind - 1
									    : "refused")) == 0);
}

/* Asks for records until there are enough runs, and the records of these are complete. */
static int
read_runs(struct history *h, struct err *e)
{
	bool more = true;
	size_t page = h->most * RECORDS < PAGE ? h->most * RECORDS : PAGE;

	must(json_object_set_new(h->words.arguments, "limit", json_integer((json_int_t)page)) == 0);
	while (more) {
		json_t *records = transfer_call(
		    &h->transfer, "audit_execution", json_incref(h->words.arguments), e);
		json_t *cursor = json_object_get(records, "next_cursor"), *entry;
		size_t i;

		if (records == NULL)
			return -1;
		json_array_foreach(json_object_get(records, "entries"), i, entry)
		{
			add_record(h, json_object_get(entry, "event"));
		}
		more = json_is_string(cursor) && json_array_size(h->runs) < h->most;
		if (more)
			must(json_object_set(h->words.arguments, "cursor", cursor) == 0);
		json_decref(records);
	}
	return 0;
}

json_t *
history_recent(const struct transfer *transfer, size_t most, struct err *e)
{
	struct history h = { .words = { .arguments = json_object() },
		.transfer = *transfer,
		.runs = json_array(),
		.by_id = json_object(),
		.most = most };
	json_t *runs = read_runs(&h, e) == 0 ? json_incref(h.runs) : NULL;

	end(&h);
	return runs;
}

/* ---- the line ---- */

static int
begin(struct history *h, const struct command *c, int argc, char **argv, struct err *e)
{
	json_int_t limit;

	*h = (struct history){ .runs = json_array(), .by_id = json_object() };
	must(h->runs != NULL && h->by_id != NULL);
	if (words_read(c, &argc, argv, &h->words, e) < 0)
		return -1;
	limit = json_integer_value(json_object_get(h->words.arguments, "limit"));
	h->most = limit > 0 ? (size_t)limit : RUNS;
	h->transfer = (struct transfer){ argc, argv };
	return 0;
}

static int
fail(const struct err *e)
{
	fprintf(stderr, "cloister: %s\n", e->text);
	return TOOL_FAILED;
}

/* ---- history ---- */

static void
shorten_digests(json_t *runs)
{
	json_t *run;
	size_t i;

	json_array_foreach(runs, i, run)
	{
		const char *digest = json_string_value(json_object_get(run, "sha256"));

		if (digest != NULL && strlen(digest) > DIGITS)
			must(json_object_set_new(run, "sha256", json_stringn(digest, DIGITS)) == 0);
	}
}

static void
print_runs(struct history *h)
{
	json_t *all = json_pack("{s:O}", "runs", h->runs);

	must(all != NULL);
	if (h->words.as_json) {
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (json_array_size(h->runs) == 0) {
		puts("no runs");
	} else {
		shorten_digests(h->runs);
		show_value(all, COLUMNS);
	}
	json_decref(all);
}

int
history_list(int argc, char **argv)
{
	const struct command *c = &commands[COMMAND_history];
	struct history h;
	struct err e;
	int status = 0;

	if (words_help(c, argc, argv))
		return 0;
	if (begin(&h, c, argc, argv, &e) < 0)
		status = words_fail(c, &e);
	else if (read_runs(&h, &e) < 0)
		status = fail(&e);
	else
		print_runs(&h);
	end(&h);
	return status;
}

/* ---- show ---- */

/* The code of the run; NULL: it is not kept. */
static json_t *
read_code(const struct history *h, const char *id)
{
	char uri[128];
	const struct client_call call = {
		.uri = uri, .argc = h->transfer.argc, .argv = h->transfer.argv
	};
	struct err e;
	int status;

	snprintf(uri, sizeof uri, "sandbox://outputs/%.64s/code", id);

	json_t *reply = client_ask(&call, &status, &e);
	json_t *value = reply == NULL ? NULL : client_value(reply);

	json_decref(reply);
	return value;
}

static void
print_run(struct history *h, json_t *run)
{
	json_t *code = read_code(h, json_string_value(json_object_get(run, "execution_id")));

	if (code != NULL)
		must(json_object_set_new(run, "source", code) == 0);
	if (h->words.as_json) {
		json_dumpf(run, stdout, JSON_INDENT(2));
		putchar('\n');
		return;
	}
	show_value(run, NULL);
	if (code == NULL)
		puts("source: not kept; the setting keep_code of the executor keeps that of later "
		     "runs");
}

int
history_show(int argc, char **argv)
{
	const struct command *c = &commands[COMMAND_show];
	struct history h;
	struct err e;
	int status = 0;

	if (words_help(c, argc, argv))
		return 0;
	if (begin(&h, c, argc, argv, &e) < 0)
		status = words_fail(c, &e);
	else if (read_runs(&h, &e) < 0)
		status = fail(&e);
	else if (json_array_size(h.runs) == 0) {
		err_set(&e, ERR_not_found,
		    "you have no such run in the audit log; see cloister history");
		status = fail(&e);
	} else
		print_run(&h, json_array_get(h.runs, 0));
	end(&h);
	return status;
}
