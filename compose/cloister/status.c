/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - sends requests to the supervisor and prints the replies as text or JSON; trusts the
 * replies. */
#include "compose/cloister/status.h"

#include "compose/cloister/differences.h"
#include "compose/cloister/place.h"
#include "compose/cloister/reach.h"
#include "compose/cloister/supervisor/supervisor.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/loop.h"
#include "common/table/replaced.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum {
	NOT_RUNNING = 3, /* as the status of an init script */
	READY_MS = 20000,
	READY_RETRY_US = 20000,
	KEY_BYTES = 64, /* a public key in base64, with a margin */
};

json_t *
status_ask(struct err *e)
{
	auto_free char *text = reach_status(e);
	json_t *status = text == NULL ? NULL : json_loads(text, 0, NULL);

	if (text != NULL && status == NULL)
		err_set(e, ERR_internal, "the supervisor sent invalid JSON");
	return status;
}

static int64_t
number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void
print_daemon(const json_t *d)
{
	const json_t *load = json_object_get(d, "load");
	const char *last = json_string_value(json_object_get(d, "last_end"));
	const char *why = json_string_value(json_object_get(d, "why"));
	bool up = json_object_get(d, "pid") != NULL;

	printf("%-10s %8lld %10.1f %9lld %-9s", json_string_value(json_object_get(d, "name")),
	    (long long)number(d, "pid"), (double)number(d, "uptime_ms") / 1000,
	    (long long)number(d, "restarts"),
	    json_is_true(json_object_get(d, "given_up")) ? "given up"
	    : !up                                        ? "down"
	    : json_is_true(json_object_get(d, "fault"))  ? "fault"
	    : json_is_true(json_object_get(d, "ready"))  ? "ready"
							 : "starting");
	if (load != NULL)
		printf(" %lld running, %lld queued, room for %lld",
		    (long long)number(load, "running"), (long long)number(load, "queued"),
		    (long long)number(load, "room"));
	if (last != NULL)
		printf(" (last exit: %s)", last);
	putchar('\n');
	if (why != NULL)
		printf("%-10s %s\n", "", why);
}

static void
print_status(const json_t *status)
{
	size_t i;
	json_t *d;

	printf("supervisor %lld, up %.1f s, %lld client%s, %s", (long long)number(status, "pid"),
	    (double)number(status, "uptime_ms") / 1000, (long long)number(status, "leases"),
	    number(status, "leases") == 1 ? "" : "s",
	    json_is_true(json_object_get(status, "stays")) ? "runs until `cloister down`\n"
							   : "stops when idle");
	if (!json_is_true(json_object_get(status, "stays")))
		printf(" for %lld s\n", (long long)number(status, "idle_s"));
	printf(
	    "%-10s %8s %10s %9s %-9s %s\n", "daemon", "pid", "up (s)", "restarts", "state", "load");
	json_array_foreach(json_object_get(status, "daemons"), i, d) print_daemon(d);
	if (json_object_get(status, "not_in_force") != NULL)
		printf("settings of a client are not in force: %s\n",
		    json_string_value(json_object_get(status, "not_in_force")));
	if (json_object_get(status, "artifact_key") != NULL)
		printf("artifacts are signed with key %s\n",
		    json_string_value(json_object_get(status, "artifact_key")));
}

/* Adds the executor's public key if one exists and this user may read it. */
static void
add_key(json_t *status)
{
	auto_free char *path = NULL;
	struct blob key = { 0 };
	struct err e;

	if (asprintf(&path, "%s/executor/artifact.pub", place.state) < 0 ||
	    fdio_load(AT_FDCWD, path, KEY_BYTES, &key, &e) < 0)
		return;
	json_object_set_new(status, "artifact_key", json_stringn(key.data, key.size));
	blob_clear(&key);
}

/* What this command itself was given has precedence over what a client reported. */
static void
add_own(json_t *status)
{
	auto_free char *line = status != NULL ? differences_line() : NULL;

	if (line != NULL)
		json_object_set_new(status, "not_in_force", json_string(line));
}

int
status_complain(const struct err *e)
{
	if (e->code == ERR_not_found) {
		fprintf(stderr, "cloister: no daemons run for %s\n", place.run);
		return NOT_RUNNING;
	}
	fprintf(stderr, "cloister: %s\n", e->text);
	return 1;
}

/* Removes a flag that is not a setting from the command line. */
static bool
take_flag(int *argc, char **argv, const char *flag)
{
	for (int i = 1; i < *argc; i++)
		if (strcmp(argv[i], flag) == 0) {
			memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof(*argv));
			*argc -= 1;
			return true;
		}
	return false;
}

/* Does a daemon need the operator before it can become ready? */
static bool
is_hopeless(const json_t *status)
{
	size_t i;
	json_t *d;
	bool hopeless = false;

	json_array_foreach(json_object_get(status, "daemons"), i, d) hopeless |=
	    json_is_true(json_object_get(d, "given_up")) ||
	    json_is_true(json_object_get(d, "fault"));
	return hopeless;
}

int
status_show(int argc, char **argv)
{
	struct err e;
	bool as_json = take_flag(&argc, argv, "--json");

	place_load("show the daemons; --json: for programs", argc, argv);

	json_t *status = status_ask(&e);

	add_key(status);
	add_own(status);
	if (status == NULL) {
		if (as_json && e.code == ERR_not_found)
			puts("{\"daemons\":[]}");
		return status_complain(&e);
	}
	if (as_json) {
		json_dumpf(status, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		print_status(status);
	}

	bool hopeless = is_hopeless(status);

	json_decref(status);
	return hopeless;
}

int
status_down(int argc, char **argv)
{
	struct err e;

	place_load("stop the daemons", argc, argv);
	if (reach_down(&e) == 0) {
		puts("all daemons have stopped");
		return 0;
	}
	return status_complain(&e) == NOT_RUNNING ? 0 : 1;
}

/* Waits until each daemon is ready, or one cannot become so. Returns the last status, or NULL with
 * *e. */
static json_t *
wait_until_ready(struct err *e)
{
	int64_t give_up = loop_now_ms() + READY_MS;

	for (;;) {
		json_t *status = status_ask(e);
		bool late = loop_now_ms() > give_up;

		if (late || (status == NULL && e->code != ERR_not_found) ||
		    json_is_true(json_object_get(status, "ready")) || is_hopeless(status))
			return status;
		json_decref(status);
		usleep(READY_RETRY_US);
	}
}

static int
go_up(struct err *e)
{
	auto_fd int run = place_open_run(e);
	auto_fd int state = run < 0 ? -1 : place_open_state(e);

	if (state < 0)
		return -1;
	if (reach_stay(e) == 0)
		return differences_check(e);
	return e->code != ERR_not_found ? -1 : reach_start(-1, e);
}

static void
warn_of(const char *name, const char *instead)
{
	fprintf(stderr, "cloister: %s has no effect; use instead: %s\n", name, instead);
}

int
status_up(int argc, char **argv)
{
	struct err e;

	place_load("start the daemons and keep them running", argc, argv);
	/* On demand: the gateway has reported them to its client. */
	if (!place.on_demand)
		replaced_report(warn_of);
	if (place.foreground)
		return supervisor_run();

	json_t *status = go_up(&e) < 0 ? NULL : wait_until_ready(&e);

	if (status == NULL)
		return status_complain(&e);
	print_status(status);

	bool ready = json_is_true(json_object_get(status, "ready"));

	json_decref(status);
	if (!ready)
		fprintf(stderr, "cloister: not all daemons are ready; see %s/supervisor.log\n",
		    place.state);
	return !ready;
}
