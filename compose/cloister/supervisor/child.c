/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.c - a table of daemons with one process each, and a growing restart delay.
 *
 * The first restart is immediate, so that a crash costs clients as little as possible; the delay of
 * a daemon that exits repeatedly grows up to five seconds. The kernel signals the children when the
 * supervisor dies, so that none is left.
 *
 * A daemon that repeatedly fails to become ready is given up: each start has a cost, and processes
 * that hang in the kernel cannot be killed and accumulate. A daemon that becomes ready and exits at
 * once is given up after more attempts. `cloister up` retries it. The reason is in the log, in the
 * status and in the file NAME.failed in the run directory, where clients of the daemon read it.
 */
#include "compose/cloister/supervisor/child.h"

#include "compose/cloister/place.h"
#include "compose/cloister/supervisor/failed.h"
#include "compose/cloister/supervisor/kept.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/pidstat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
	STEADY_MS = 10000, /* after this uptime an exit is no longer a repeated one */
	DELAY_MIN_MS = 100,
	DELAY_MAX_MS = 5000,
	FAILED_STARTS_MAX = 5, /* in a row */
	EARLY_ENDS_MAX = 30,   /* in a row, of a daemon that became ready */
};

struct child {
	const char *name;
	pid_t pid; /* 0: not running */
	int pidfd;
	int64_t started_ms;
	uint64_t restarts, early_ends, timer;
	uint64_t failed_starts, start_timer;
	bool ready, told_to_stop, given_up;
	size_t keeps; /* maximum number of descriptors stored for its next process */
	struct kept kept;
	char status[304], last_end[48];
	char why[FAILED_TEXT]; /* why it did not become ready, if known; "": it became ready */
};

/* clang-format off */
/* Servers before their clients, as in peers.def. */
static struct child children[] = {
#define CHILD_RESIDENT(...) { __VA_ARGS__ },
#define CHILD_PER_CLIENT(...)
#define PEER(daemon, directory, life, state, open_files, kept_files, doc) \
	CHILD_##life(.name = #daemon, .keeps = kept_files)
#include "common/table/peers.def"
};
/* clang-format on */

#define PEER(daemon, directory, life, state, open_files, kept_files, doc) \
	_Static_assert(kept_files <= KEPT_MAX, #daemon);
#include "common/table/peers.def"

static bool stopping;
static void (*stopped)(void);

static void start(void *self);
static void stop_next(void);

/* ---- the end of a daemon ---- */

static void
describe_end(struct child *c, int status)
{
	if (WIFSIGNALED(status))
		snprintf(c->last_end, sizeof(c->last_end), "signal %d (%s)", WTERMSIG(status),
		    sigabbrev_np(WTERMSIG(status)) ?: "unknown");
	else
		snprintf(c->last_end, sizeof(c->last_end), "status %d", WEXITSTATUS(status));
}

static int64_t
delay_of(struct child *c)
{
	int64_t delay = DELAY_MIN_MS;

	if (loop_now_ms() - c->started_ms >= STEADY_MS)
		c->early_ends = 0;
	if (c->early_ends++ == 0)
		return 0;
	for (uint64_t i = 2; i < c->early_ends && delay < DELAY_MAX_MS; i++)
		delay *= 2;
	return delay < DELAY_MAX_MS ? delay : DELAY_MAX_MS;
}

static void
forget(struct child *c)
{
	loop_forget(c->pidfd);
	loop_unset(c->start_timer);
	close(c->pidfd);
	c->pid = 0;
	c->start_timer = 0;
	c->ready = false;
	c->status[0] = '\0';
}

/* The last status message of a failed start is more useful than its exit status. */
static void
note_failure(struct child *c)
{
	if (c->ready) {
		c->failed_starts = 0;
		c->why[0] = '\0';
		return;
	}
	c->failed_starts++;
	if (c->status[0] != '\0')
		snprintf(c->why, sizeof(c->why), "%.200s (%s)", c->status, c->last_end);
	else if (c->why[0] == '\0' || c->start_timer != 0)
		snprintf(c->why, sizeof(c->why), "it exited before it was ready: %s", c->last_end);
}

static void
give_up(struct child *c)
{
	c->given_up = true;
	if (c->why[0] == '\0')
		snprintf(c->why, sizeof(c->why), "it exits repeatedly: %s", c->last_end);
	log_error("daemon given up; fix it, then run: cloister up", LOG_S("name", c->name),
	    LOG_N("failed_starts", c->failed_starts), LOG_N("early_ends", c->early_ends),
	    LOG_S("why", c->why));
	failed_tell(c->name, c->why);
}

static void
on_end(void *self, uint32_t events)
{
	struct child *c = self;
	int status;

	(void)events;
	if (waitpid(c->pid, &status, WNOHANG) != c->pid)
		return;
	describe_end(c, status);
	note_failure(c);
	forget(c);
	if (stopping) {
		kept_clear(&c->kept);
		stop_next();
		return;
	}

	int64_t delay = delay_of(c);

	if (c->failed_starts >= FAILED_STARTS_MAX || c->early_ends > EARLY_ENDS_MAX) {
		give_up(c);
		return;
	}
	c->restarts++;
	log_warn("daemon exited; restarting", LOG_S("name", c->name), LOG_S("end", c->last_end),
	    LOG_N("restarts", c->restarts), LOG_N("delay_ms", delay));
	c->timer = loop_after(delay, start, c);
}

/* ---- the start of a daemon ---- */

/* Called between fork and exec: makes only calls that are safe there, and never returns. */
static void
become(const struct child *c, char *const argv[], pid_t parent)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	sigemptyset(&none);
	/* The supervisor receives the terminal's signals and decides the order of the shutdown. */
	setsid();
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ||
	    sigprocmask(SIG_SETMASK, &none, NULL) < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		_exit(126);
	if (getppid() != parent)
		_exit(125);
	if (kept_hand_over(&c->kept) < 0)
		_exit(124);
	execv(argv[0], argv);
	_exit(127);
}

static int
spawn(struct child *c, char *const argv[], struct err *e)
{
	pid_t parent = getpid();

	kept_describe(&c->kept, c->keeps);
	c->pid = fork();
	if (c->pid < 0) {
		c->pid = 0;
		return err_sys(e, "fork");
	}
	if (c->pid == 0)
		become(c, argv, parent);
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd >= 0 && loop_watch(c->pidfd, EPOLLIN, on_end, c, e) == 0)
		return 0;
	if (c->pidfd < 0)
		err_sys(e, "pidfd_open");
	else
		close(c->pidfd);
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
	return -1;
}

static int
try_start(struct child *c, struct err *e)
{
	char path[PLACE_PATH], name[64];
	const char *argv[PLACE_FLAGS + 2] = { path };
	size_t count = place_flags(true, argv + 1);

	snprintf(name, sizeof(name), "cloister-%s", c->name);
	c->started_ms = loop_now_ms();

	int status = place_program(name, path, e) < 0 ? -1 : spawn(c, (char *const *)argv, e);

	while (count > 0)
		free((void *)argv[count--]);
	return status;
}

/* A process that SIGKILL does not end is never started again, because on_end() is not called. */
static void
on_hang(void *self)
{
	struct child *c = self;
	char seen[PIDSTAT_TEXT];

	c->start_timer = 0;
	pidstat_text(c->pid, seen);
	snprintf(c->why, sizeof(c->why), "it was not ready after %" PRIu64 " s: %s", place.start_s,
	    seen);
	log_error("daemon hung at start; killing it", LOG_S("name", c->name), LOG_N("pid", c->pid),
	    LOG_S("why", c->why));
	failed_tell(c->name, c->why);
	kill(c->pid, SIGKILL);
}

static void
start(void *self)
{
	struct child *c = self;
	struct err e;

	c->timer = 0;
	if (try_start(c, &e) == 0) {
		c->start_timer = loop_after((int64_t)place.start_s * 1000, on_hang, c);
		return;
	}
	log_error("cannot start daemon", LOG_S("name", c->name), LOG_E(&e));
	snprintf(c->last_end, sizeof(c->last_end), "not started");
	c->timer = loop_after(DELAY_MAX_MS, start, c);
}

int
child_start_all(struct err *e)
{
	char path[PLACE_PATH], name[64];

	kept_announce();
	for (struct child *c = children; c < children + COUNT(children); c++) {
		snprintf(name, sizeof(name), "cloister-%s", c->name);
		if (place_program(name, path, e) < 0)
			return -1;
	}
	for (struct child *c = children; c < children + COUNT(children); c++) {
		failed_forget(c->name);
		start(c);
	}
	return 0;
}

void
child_retry(void)
{
	for (struct child *c = children; c < children + COUNT(children); c++) {
		if (!c->given_up || stopping)
			continue;
		log_info("retrying a daemon that was given up", LOG_S("name", c->name));
		c->given_up = false;
		failed_forget(c->name);
		c->failed_starts = c->early_ends = 0;
		start(c);
	}
}

/* ---- stopping ---- */

static void
kill_rest(void *self)
{
	(void)self;
	for (struct child *c = children; c < children + COUNT(children); c++)
		if (c->pid != 0) {
			log_warn("daemon did not stop; killing it", LOG_S("name", c->name));
			c->told_to_stop = true;
			kill(c->pid, SIGKILL);
		}
}

static void
stop_next(void)
{
	for (struct child *c = children + COUNT(children) - 1; c >= children; c--) {
		if (c->pid == 0)
			continue;
		if (!c->told_to_stop)
			kill(c->pid, SIGTERM);
		c->told_to_stop = true;
		return;
	}
	stopped();
}

void
child_stop_all(void (*done)(void))
{
	stopping = true;
	stopped = done;
	for (struct child *c = children; c < children + COUNT(children); c++) {
		loop_unset(c->timer);
		failed_forget(c->name); /* the next supervisor tries again */
	}
	loop_after((int64_t)place.stop_s * 1000, kill_rest, NULL);
	stop_next();
}

/* ---- status ---- */

static void
became_ready(struct child *c)
{
	c->ready = true;
	loop_unset(c->start_timer);
	c->start_timer = 0;
	failed_forget(c->name);
}

void
child_says(pid_t pid, bool ready, const char *status)
{
	for (struct child *c = children; c < children + COUNT(children); c++) {
		if (c->pid == 0 || c->pid != pid)
			continue;
		if (ready && !c->ready)
			became_ready(c);
		if (status != NULL)
			snprintf(c->status, sizeof(c->status), "%s", status);
	}
}

struct kept *
child_kept(pid_t pid)
{
	for (struct child *c = children; c < children + COUNT(children); c++)
		if (c->pid != 0 && c->pid == pid && c->keeps > 0 && !stopping)
			return &c->kept;
	return NULL;
}

/* "fault: REASON": the daemon runs and answers, but cannot do its work (common/daemon/measure.c).
 */
static const char *
fault_of(const struct child *c)
{
	static const char word[] = "fault: ";

	return strncmp(c->status, word, sizeof word - 1) == 0 ? c->status + sizeof word - 1 : NULL;
}

static bool
is_ready(const struct child *c)
{
	return c->ready && fault_of(c) == NULL;
}

bool
child_all_ready(void)
{
	for (struct child *c = children; c < children + COUNT(children); c++)
		if (!is_ready(c))
			return false;
	return true;
}

/* Parses "3 running, 0 queued, room for 13", the format of common/daemon/measure.c. */
static json_int_t
number_behind(const char *text, const char *words)
{
	const char *at = strstr(text, words);

	return at == NULL ? 0 : (json_int_t)strtoul(at + strlen(words), NULL, 10);
}

static json_t *
describe(const struct child *c)
{
	json_t *out = json_pack("{s:s, s:b, s:I}", "name", c->name, "ready", is_ready(c),
	    "restarts", (json_int_t)c->restarts);
	const char *why = fault_of(c) ?: c->why;

	if (c->pid != 0) {
		json_object_set_new(out, "pid", json_integer(c->pid));
		json_object_set_new(out, "uptime_ms", json_integer(loop_now_ms() - c->started_ms));
	}
	if (strstr(c->status, "room for ") != NULL)
		json_object_set_new(out, "load",
		    json_pack("{s:I, s:I, s:I}", "running", number_behind(c->status, ""), "queued",
			number_behind(c->status, "running, "), "room",
			number_behind(c->status, "room for ")));
	if (c->last_end[0] != '\0')
		json_object_set_new(out, "last_end", json_string(c->last_end));
	if (why[0] != '\0' && !is_ready(c))
		json_object_set_new(out, "why", json_string(why));
	if (fault_of(c) != NULL)
		json_object_set_new(out, "fault", json_true());
	if (c->given_up)
		json_object_set_new(out, "given_up", json_true());
	return out;
}

json_t *
child_describe(void)
{
	json_t *out = json_array();

	for (struct child *c = children; c < children + COUNT(children); c++)
		json_array_append_new(out, describe(c));
	return out;
}
