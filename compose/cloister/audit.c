/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.c - records of the audit log: one's own by the tool, those of all principals by auditd's
 * socket for operators.
 *
 * auditd decides who is an operator; this command only asks.
 */
#include "compose/cloister/audit.h"

#include "compose/cloister/call.h"
#include "compose/cloister/events.h"
#include "compose/cloister/operator.h"
#include "compose/cloister/place.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"
#include "common/base/timestamp.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RETRY_S = 1, DAY_MS = 86400000 };

/* ---- times ---- */

static const struct unit {
	char letter;
	uint64_t ms;
} units[] = { { 'm', 60000 }, { 'h', 3600000 }, { 'd', DAY_MS } };

/* "24h": so long ago. */
static bool
read_ago(const char *text, uint64_t *ms)
{
	char *rest;
	uint64_t count = strtoull(text, &rest, 10), now = timestamp_ms();

	if (text[0] < '0' || text[0] > '9' || rest[0] == '\0' || rest[1] != '\0')
		return false;
	for (size_t i = 0; i < COUNT(units); i++)
		if (units[i].letter == rest[0] && count <= now / units[i].ms) {
			*ms = now - count * units[i].ms;
			return true;
		}
	return false;
}

/* *is_day: it has no time of day. */
static bool
read_date(const char *text, uint64_t *ms, bool *is_day)
{
	static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S",
		"%Y-%m-%dT%H:%MZ", "%Y-%m-%dT%H:%M" };

	for (size_t i = 0; i < COUNT(forms); i++) {
		struct tm tm = { 0 };
		const char *rest = strptime(text, forms[i], &tm);
		time_t at = rest == NULL || *rest != '\0' ? -1 : timegm(&tm);

		if (at < 0)
			continue;
		*ms = (uint64_t)at * 1000;
		*is_day = i == 0;
		return true;
	}
	return false;
}

static int
take_time(int *argc, char **argv, const char *flag, json_t *arguments, struct err *e)
{
	bool is_day = false, is_until = strcmp(flag, "--until") == 0;
	const char *text;
	uint64_t ms;

	if (words_take(argc, argv, flag, &text, e) < 0)
		return -1;
	if (text == NULL)
		return 0;
	if (!read_ago(text, &ms) && !read_date(text, &ms, &is_day))
		return err_set(e, ERR_invalid_argument,
		    "%s: '%.32s' is no time, such as 2026-01-31, 2026-01-31T12:00:00Z or 24h", flag,
		    text);
	if (is_day && is_until)
		ms += DAY_MS;
	must(json_object_set_new(
		 arguments, is_until ? "until_ms" : "since_ms", json_integer((json_int_t)ms)) == 0);
	return 0;
}

/* ---- all principals ---- */

/* Removes a flag without a value; false: it is not there. */
static bool
take_switch(int *argc, char **argv, const char *flag)
{
	for (int i = 1; i < *argc; i++)
		if (strcmp(argv[i], flag) == 0) {
			memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof *argv);
			--*argc;
			return true;
		}
	return false;
}

/* A daemon that restarts does not end a command that follows. */
static bool
may_wait(const json_t *arguments, bool refused, const struct err *e)
{
	return !refused && json_object_get(arguments, "wait_ms") != NULL &&
	       (e->code == ERR_unavailable || e->code == ERR_not_found);
}

/* Prints a page.  Returns 1: ask again; 0: there is no more; -1: *status is the exit code. */
static int
show_page(struct words *words, int *status)
{
	bool refused = false, follow = json_object_get(words->arguments, "wait_ms") != NULL;
	struct err e = { 0 };
	json_t *page = operator_ask(MSG_audit_all, words->arguments, &refused, &e);

	if (page == NULL && may_wait(words->arguments, refused, &e)) {
		sleep(RETRY_S);
		return 1;
	}
	if (page == NULL) {
		*status = operator_fail(refused, &e);
		return -1;
	}
	events_print(page, words->as_json, true);
	follow |= events_advance(words->arguments, page);
	json_decref(page);
	return follow;
}

static int
read_words(int *argc, char **argv, struct words *words, struct err *e)
{
	const struct command *c = &commands[COMMAND_audit_all];
	json_auto_t *times = json_object();
	bool lines = take_switch(argc, argv, "--json-lines");

	if (take_time(argc, argv, "--since", times, e) < 0 ||
	    take_time(argc, argv, "--until", times, e) < 0 ||
	    words_read(c, argc, argv, words, e) < 0)
		return -1;
	words->as_json |= lines;
	must(json_object_update(words->arguments, times) == 0);
	return 0;
}

static int
show_all(int argc, char **argv)
{
	const struct command *c = &commands[COMMAND_audit_all];
	struct words words = { 0 };
	int status = 0;
	struct err e;

	if (words_help(c, argc, argv))
		return 0;
	if (read_words(&argc, argv, &words, &e) < 0)
		return words_fail(c, &e);
	place_load(c->words, argc, argv);
	while (show_page(&words, &status) > 0)
		continue;
	json_decref(words.arguments);
	return status;
}

int
audit_show(int argc, char **argv)
{
	if (take_switch(&argc, argv, "--all"))
		return show_all(argc, argv);
	return call_command(&commands[COMMAND_audit], argc, argv);
}
