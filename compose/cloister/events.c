/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - calls follow_events again and again, each time after the last event that it printed.
 *
 * So no event is skipped, also while a daemon restarts.
 */
#include "compose/cloister/events.h"

#include "compose/cloister/client.h"
#include "compose/cloister/show.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"
#include "common/base/timestamp.h"
#include "common/base/utf8.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TOOL_FAILED = 1, RETRY_S = 1 };

static void
print_text(const json_t *event, const char *name)
{
	auto_free char *text = NULL;
	const char *value = json_string_value(json_object_get(event, name));

	if (value == NULL)
		return;
	text = strdup(value);
	must(text != NULL);
	utf8_tame(text);
	printf("  %s", text);
}

/* One line: time, event, and what it has of the others.  Of one's own, the principal is known. */
static void
print_line(const json_t *entry, bool of_all)
{
	static const char *const names[] = { "principal", "execution_id", "session_id", "namespace",
		"language", "code", "detail" };
	const json_t *event = json_object_get(entry, "event");
	json_int_t ms = json_integer_value(json_object_get(event, "time_ms"));
	char when[TIMESTAMP_TEXT];

	timestamp_text((struct timespec){ ms / 1000, ms % 1000 * 1000000 }, 3, when);
	printf("%s", when);
	print_text(event, "event");
	for (size_t i = !of_all; i < COUNT(names); i++)
		print_text(event, names[i]);
	putchar('\n');
}

void
events_print(const json_t *page, bool as_json, bool of_all)
{
	const json_t *events = json_object_get(page, "events"), *entry;
	size_t i;

	json_array_foreach(events, i, entry)
	{
		if (as_json) {
			json_dumpf(entry, stdout, JSON_COMPACT);
			putchar('\n');
		} else {
			print_line(entry, of_all);
		}
	}
	fflush(stdout);
	show_removed(page);
}

bool
events_advance(json_t *arguments, const json_t *page)
{
	json_t *last = json_object_get(page, "last");
	bool moved = !json_equal(json_object_get(arguments, "after"), last);

	must(json_object_set(arguments, "after", last) == 0);
	return moved;
}

/* Prints a page.  Returns 1: ask again; 0: there is no more; -1: *status is the exit code. */
static int
take_page(const json_t *value, struct words *words, int *status)
{
	const json_t *problem = json_object_get(value, "error");
	const char *code = json_string_value(json_object_get(problem, "code"));
	bool follow = json_object_get(words->arguments, "wait_ms") != NULL;

	if (follow && code != NULL && strcmp(code, "unavailable") == 0) {
		sleep(RETRY_S);
		return 1;
	}
	if (json_object_get(value, "events") == NULL) {
		show_problem(problem);
		*status = TOOL_FAILED;
		return -1;
	}
	events_print(value, words->as_json, false);
	*status = 0;
	return events_advance(words->arguments, value) || follow;
}

static int
ask(struct words *words, int argc, char **argv, int *status)
{
	const struct client_call asked = {
		.tool = "follow_events", .arguments = words->arguments, .argc = argc, .argv = argv
	};
	struct err e;
	json_t *reply = client_ask(&asked, status, &e);
	json_t *value = reply == NULL ? NULL : client_value(reply);
	int more = -1;

	if (reply == NULL)
		fprintf(stderr, "cloister: %s\n", e.text);
	else if (value != NULL)
		more = take_page(value, words, status);
	else {
		show_problem(json_object_get(reply, "error"));
		*status = TOOL_FAILED;
	}
	json_decref(value);
	json_decref(reply);
	return more;
}

int
events_follow(int argc, char **argv)
{
	const struct command *c = &commands[COMMAND_events];
	struct words words = { 0 };
	int status = 0;
	struct err e;

	if (words_help(c, argc, argv))
		return 0;
	if (words_read(c, &argc, argv, &words, &e) < 0)
		return words_fail(c, &e);
	if (json_object_get(words.arguments, "wait_ms") == NULL &&
	    json_object_get(words.arguments, "after") == NULL)
		must(json_object_set_new(words.arguments, "after", json_string("0")) == 0);
	while (ask(&words, argc, argv, &status) > 0)
		continue;
	json_decref(words.arguments);
	return status;
}
