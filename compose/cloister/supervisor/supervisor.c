/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervisor.c - one per run directory: starts the daemons, counts leases, and exits with the
 * daemons.
 *
 * Theory of operation. A lock in the run directory ensures that there is only one supervisor. Each
 * client holds a lease, which is an open connection, so it ends with the client in any case. A
 * supervisor that was started on demand exits when there has been no lease for idle_s. It removes
 * its socket first, so that a new client starts another supervisor, which waits for the lock. If
 * two start at once, the one without the lock passes its lease to the other.
 */
#include "compose/cloister/supervisor/supervisor.h"

#include "compose/cloister/place.h"
#include "compose/cloister/reach.h"
#include "compose/cloister/supervisor/child.h"
#include "compose/cloister/supervisor/control.h"
#include "compose/cloister/supervisor/logfile.h"
#include "compose/cloister/supervisor/notify.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

enum {
	LOCK_WAIT_MS = 30000, /* longer than an ending supervisor needs to stop its daemons */
	LOCK_RETRY_MS = 20,
	ASKED_RETRY_MS = 1000,
	/* The client's gateway starts at this moment, and must reply first. */
	YIELD_MS = 10,
};

static int64_t started_ms;
static uint64_t idle_timer;
static bool ending, stays, failed;
static int signal_fd = -1;

static void on_leases_changed(void);

/* ---- ending ---- */

static void
on_stopped(void)
{
	log_info("all daemons have stopped");
	loop_stop();
}

static void
end(void)
{
	if (ending)
		return;
	ending = true;
	loop_unset(idle_timer);
	control_shut();
	child_stop_all(on_stopped);
}

static void
on_idle(void *self)
{
	(void)self;
	idle_timer = 0;
	if (control_is_asked()) {
		idle_timer = loop_after(ASKED_RETRY_MS, on_idle, NULL);
		return;
	}
	log_info("no clients; stopping the daemons", LOG_N("idle_s", place.idle_s));
	end();
}

static void
on_leases_changed(void)
{
	loop_unset(idle_timer);
	idle_timer = 0;
	if (!stays && !ending && control_leases() == 0)
		idle_timer = loop_after((int64_t)place.idle_s * 1000, on_idle, NULL);
}

static void
on_signal(void *self, uint32_t events)
{
	struct signalfd_siginfo info;

	(void)self, (void)events;
	if (read(signal_fd, &info, sizeof(info)) == sizeof(info))
		end();
}

/* ---- requests of clients ---- */

static void
on_stay(void)
{
	stays = true;
	child_retry();
	on_leases_changed();
}

/* The last one; it is over when the daemons end. */
static char *differing;

static void
on_differ(const char *line)
{
	log_warn("settings of a client are not in force", LOG_S("settings", line));
	free(differing);
	differing = strdup(line);
}

static json_t *
describe(void)
{
	return json_pack("{s:i, s:I, s:b, s:i, s:I, s:b, s:o, s:s*}", "pid", (int)getpid(),
	    "uptime_ms", (json_int_t)(loop_now_ms() - started_ms), "stays", stays, "leases",
	    (int)control_leases(), "idle_s", (json_int_t)place.idle_s, "ready", child_all_ready(),
	    "daemons", child_describe(), "not_in_force", differing);
}

static const struct control control = {
	.leases_changed = on_leases_changed,
	.status = describe,
	.stay = on_stay,
	.differ = on_differ,
	.down = end,
};

/* ---- starting ---- */

static int
watch_signals(struct err *e)
{
	signal(SIGPIPE, SIG_IGN);
	signal_fd = loop_ends(e);
	if (signal_fd < 0)
		return -1;
	return loop_watch(signal_fd, EPOLLIN, on_signal, NULL, e);
}

/* 1: this process is the supervisor; 0: another one is, and has the lease; -1: *e. */
static int
become_the_one(int run, struct err *e)
{
	int lock = openat(run, "supervisor.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int64_t give_up = loop_now_ms() + LOCK_WAIT_MS;

	if (lock < 0)
		return err_sys(e, "open supervisor.lock");
	/* The descriptor is never closed: the lock lasts as long as the process. */
	while (flock(lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(e, "lock supervisor.lock");
		if (place.lease != 0 ? reach_give((int)place.lease, e) == 0 : reach_stay(e) == 0)
			return 0;
		if (loop_now_ms() > give_up)
			return err_set(e, ERR_unavailable,
			    "another supervisor holds the lock and does not reply");
		usleep(LOCK_RETRY_MS * 1000);
	}
	return 1;
}

static void
start_daemons(void *self)
{
	struct err e;

	(void)self;
	if (ending || child_start_all(&e) == 0)
		return;
	log_error("the daemons cannot be started", LOG_E(&e));
	failed = true;
	end();
}

static int
open_all(struct err *e)
{
	started_ms = loop_now_ms();
	stays = !place.on_demand;
	if (loop_open(e) < 0 || watch_signals(e) < 0 || notify_open(e) < 0 ||
	    control_open(&control, e) < 0)
		return -1;
	logfile_watch();
	if (place.lease != 0 && control_hold((int)place.lease, e) < 0)
		return -1;
	on_leases_changed();
	loop_after(place.on_demand ? YIELD_MS : 0, start_daemons, NULL);
	return 0;
}

static int
run(struct err *e)
{
	auto_fd int directory = place_open_run(e);
	auto_fd int state = directory < 0 ? -1 : place_open_state(e);

	if (state < 0)
		return -1;

	int first = become_the_one(directory, e);

	if (first == 0)
		log_info("a supervisor is already running", LOG_S("run", place.run));
	if (first <= 0)
		return first;
	log_info("supervisor started", LOG_S("run", place.run), LOG_N("pid", getpid()));

	int status = open_all(e) < 0 ? -1 : loop_run(e);

	control_close();
	notify_close();
	if (status == 0 && failed)
		return err_set(e, ERR_unavailable, "the daemons could not be started");
	return status;
}

int
supervisor_run(void)
{
	struct err e;
	int level = log_parse(place.log_level);

	log_open("supervisor", level < 0 ? LOG_info : (enum log_level)level);
	if (place.lease != 0 && fcntl((int)place.lease, F_SETFD, FD_CLOEXEC) < 0)
		place.lease = 0;
	if (run(&e) == 0)
		return 0;
	log_error("the supervisor cannot continue", LOG_E(&e));
	return 1;
}
