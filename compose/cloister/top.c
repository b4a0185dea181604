/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top.c - a screen of tables, from the supervisor, from /proc and from two tools.
 *
 * What is printed was tamed by show.h.  The terminal is given back however the program ends.
 */
#include "compose/cloister/top.h"

#include "compose/cloister/commands.h"
#include "compose/cloister/history.h"
#include "compose/cloister/place.h"
#include "compose/cloister/show.h"
#include "compose/cloister/status.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/loop.h"
#include "common/base/timestamp.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define ENTER "\033[?1049h\033[?25l\033[?7l" /* another screen, no cursor, long lines are cut */
#define LEAVE "\033[?7h\033[?25h\033[?1049l"
#define AGAIN "\033[H\033[J"

enum {
	DAEMONS = 32,
	ROWS = 24, /* of a terminal that does not say how many it has */
	RUNS = 8,  /* without a terminal */
	STAT_BYTES = 1024,
};

struct top {
	struct transfer transfer;
	double interval_s;
	bool screen;
	size_t rows; /* that are left on the screen */
	struct {
		json_int_t pid;
		double cpu_s;
	} last[DAEMONS];
	int64_t last_ms;
};

static struct termios before;
static volatile sig_atomic_t ended;

/* ---- the terminal ---- */

static void
on_end(int signal)
{
	ended = signal;
}

static void
leave_screen(void)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	fputs(LEAVE, stdout);
	fflush(stdout);
}

static bool
enter_screen(void)
{
	const struct sigaction action = { .sa_handler = on_end };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct termios raw;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) < 0)
		return false;
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	for (size_t i = 0; i < COUNT(signals); i++)
		sigaction(signals[i], &action, NULL);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs(ENTER, stdout);
	return true;
}

static size_t
rows_of_screen(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : ROWS;
}

/* Waits for the next look; false: the user wants to end. */
static bool
wait_for_key(double seconds)
{
	int64_t end_ms = loop_now_ms() + (int64_t)(seconds * 1000);
	struct pollfd in = { STDIN_FILENO, POLLIN, 0 };
	char key;

	for (int64_t left; ended == 0 && (left = end_ms - loop_now_ms()) > 0;) {
		if (poll(&in, 1, (int)left) <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q')
			return false;
		if (key == ' ')
			return true;
	}
	return ended == 0;
}

/* ---- daemons ---- */

/* A number of proc(5)'s table, behind the name, which is the second field. */
static unsigned long
field(const char *name_end, int number)
{
	const char *at = name_end;

	for (int i = 2; at != NULL && i < number; i++)
		at = strchr(at + 1, ' ');
	return at == NULL ? 0 : strtoul(at, NULL, 10);
}

/* Processor time and resident memory of a process; proc(5). */
static bool
read_process(json_int_t pid, double *cpu_s, double *mib)
{
	char path[64], text[STAT_BYTES];
	const char *at;

	snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);

	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (size <= 0)
		return false;
	text[size] = '\0';
	/* The name in brackets may contain anything; what follows it are numbers, from the third
	 * field on. */
	if ((at = strrchr(text, ')')) == NULL)
		return false;
	*cpu_s = (double)(field(at, 14) + field(at, 15)) / (double)sysconf(_SC_CLK_TCK);
	*mib = (double)field(at, 24) * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
	return true;
}

static const char *
state_of(const json_t *daemon)
{
	return json_is_true(json_object_get(daemon, "given_up")) ? "given up"
	       : json_object_get(daemon, "pid") == NULL          ? "down"
	       : json_is_true(json_object_get(daemon, "fault"))  ? "fault"
	       : json_is_true(json_object_get(daemon, "ready"))  ? "ready"
	                                                         : "starting";
}

/* Since the last look; the first look has none. */
static void
add_use(struct top *t, size_t i, json_t *row, json_int_t pid, double passed_s)
{
	double cpu_s, mib;
	char text[32];

	if (i >= DAEMONS || !read_process(pid, &cpu_s, &mib))
		return;
	if (t->last[i].pid == pid && passed_s > 0) {
		snprintf(text, sizeof text, "%.1f", (cpu_s - t->last[i].cpu_s) / passed_s * 100);
		json_object_set_new(row, "cpu_percent", json_string(text));
	}
	snprintf(text, sizeof text, "%.1f", mib);
	json_object_set_new(row, "mib", json_string(text));
	t->last[i].pid = pid;
	t->last[i].cpu_s = cpu_s;
}

static json_t *
rows_of_daemons(struct top *t, const json_t *status)
{
	json_t *rows = json_array(), *d;
	int64_t now_ms = loop_now_ms();
	double passed_s = t->last_ms > 0 ? (double)(now_ms - t->last_ms) / 1000 : 0;
	size_t i;

	json_array_foreach(json_object_get(status, "daemons"), i, d)
	{
		const json_t *load = json_object_get(d, "load");
		json_t *row = json_pack("{s:O*, s:O*, s:s, s:O*, s:O*, s:O*}", "daemon",
		    json_object_get(d, "name"), "pid", json_object_get(d, "pid"), "state",
		    state_of(d), "restarts", json_object_get(d, "restarts"), "running",
		    json_object_get(load, "running"), "queued", json_object_get(load, "queued"));

		must(row != NULL);
		add_use(t, i, row, json_integer_value(json_object_get(d, "pid")), passed_s);
		json_array_append_new(rows, row);
	}
	t->last_ms = now_ms;
	return rows;
}

/* ---- the screen ---- */

/* A heading and a table of as many rows as have room. */
static void
print_rows(struct top *t, const char *title, const json_t *rows, const char *columns)
{
	size_t room = t->rows > 4 ? t->rows - 4 : 0, count = json_array_size(rows);
	json_t *shown = json_array();
	size_t i;
	json_t *row;

	must(shown != NULL);
	count = t->screen && count > room ? room : count;
	json_array_foreach(rows, i, row)
	{
		if (i < count)
			json_array_append(shown, row);
	}
	if (count > 0) {
		json_t *all = json_pack("{s:O}", "rows", shown);

		printf("\n%s\n", title);
		show_value(all, columns);
		t->rows -= t->screen ? count + 3 : 0;
		json_decref(all);
	}
	json_decref(shown);
}

static void
print_head(struct top *t, const json_t *status, const json_t *stats)
{
	const json_t *queue = json_object_get(stats, "queue");
	json_int_t up_s = json_integer_value(json_object_get(status, "uptime_ms")) / 1000;
	char now[TIMESTAMP_TEXT];

	timestamp_text(timestamp_now(), 0, now);
	printf("cloister  %s  up %lld:%02lld:%02lld  clients %lld\n", now, (long long)up_s / 3600,
	    (long long)up_s / 60 % 60, (long long)up_s % 60,
	    (long long)json_integer_value(json_object_get(status, "leases")));
	if (queue != NULL)
		printf("runs: %lld running, %lld waiting, at most %lld at once, %lld ended\n",
		    (long long)json_integer_value(json_object_get(queue, "running")),
		    (long long)json_integer_value(json_object_get(queue, "waiting")),
		    (long long)json_integer_value(json_object_get(queue, "max_concurrent")),
		    (long long)json_integer_value(json_object_get(queue, "completed")));
	t->rows -= t->screen && t->rows > 2 ? 2 : 0;
}

static void
print_all(struct top *t, const json_t *status, const json_t *stats, const json_t *runs)
{
	json_t *daemons = rows_of_daemons(t, status);

	t->rows = t->screen ? rows_of_screen() : 0;
	if (t->screen)
		fputs(AGAIN, stdout);
	print_head(t, status, stats);
	print_rows(
	    t, "daemons", daemons, "rows:daemon,pid,cpu_percent,mib,state,restarts,running,queued");
	print_rows(t, "your sessions", json_object_get(stats, "sessions"),
	    "rows:session_id,language,busy,namespace,used_at,expires_at");
	print_rows(
	    t, "your last runs", runs, "rows:time_ms,execution_id,language,state,wall_ms,error");
	json_decref(daemons);
}

/* One look; returns the exit code. */
static int
look(struct top *t)
{
	struct err e;
	json_t *status = status_ask(&e);

	if (status == NULL)
		return status_complain(&e);

	json_t *stats = transfer_call(&t->transfer, "sandbox_stats", json_object(), &e);
	json_t *runs = stats == NULL
	                   ? NULL
	                   : history_recent(&t->transfer, t->screen ? rows_of_screen() : RUNS, &e);
	bool lacks = runs == NULL;

	print_all(t, status, stats, runs);
	if (lacks)
		fprintf(t->screen ? stdout : stderr, "cloister: %s\n", e.text);
	fflush(stdout);
	json_decref(status);
	json_decref(stats);
	json_decref(runs);
	return lacks && !t->screen; /* a daemon may come back */
}

/* ---- the command ---- */

static int
read_line(struct top *t, int *argc, char **argv, bool *once, struct err *e)
{
	const char *text;
	char *end = NULL;
	int rest = 1;

	if (words_take(argc, argv, "--interval", &text, e) < 0)
		return -1;
	t->interval_s = text != NULL ? strtod(text, &end) : 2;
	if (!(t->interval_s >= 0.2 && t->interval_s <= 60) || (end != NULL && *end != '\0'))
		return err_set(e, ERR_invalid_argument, "--interval: must be 0.2 to 60 seconds");
	for (int i = 1; i < *argc; i++)
		if (strcmp(argv[i], "--once") == 0)
			*once = true;
		else
			argv[rest++] = argv[i];
	argv[rest] = NULL;
	*argc = rest;
	return 0;
}

int
top_show(int argc, char **argv)
{
	const struct command *c = &commands[COMMAND_top];
	struct top t = { 0 };
	bool once = false;
	struct err e;
	int code;

	if (words_help(c, argc, argv))
		return 0;
	if (read_line(&t, &argc, argv, &once, &e) < 0)
		return words_fail(c, &e);
	t.transfer = (struct transfer){ argc, argv };
	place_load("show what runs", argc, argv);
	t.screen = !once && enter_screen();
	while ((code = look(&t)) == 0 && t.screen && wait_for_key(t.interval_s))
		continue;
	if (t.screen)
		leave_screen();
	return code;
}
