/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon.c - start, main loop and shutdown of every daemon.
 *
 * Trusts the user who starts it: arguments, environment, configuration. Reads nothing from a peer
 * before it is in its jail, and logs the layers of the jail as read back from the kernel.
 */
#include "common/daemon/daemon.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/daemon/instance.h"
#include "common/daemon/measure.h"
#include "common/daemon/monitor.h"
#include "common/daemon/operator.h"
#include "common/daemon/published.h"
#include "common/daemon/starter.h"
#include "common/journal/spool.h"
#include "common/table/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

enum {
	MAX_SETTINGS = 64,
	MAX_PATHS = 32,
	FILES_CONFINED = 16,
	END_POLL_MS = 10,
	TELL_MS = 1000,
};

static struct {
	const struct daemon *d;
	const struct edge_peer *peer;
	const char *name;
	enum edge_state keeps;
	/* settings */
	char *run, *state, *config, *log_level;
#define SETTING(name, kind, ...) C_##kind name;
#include "common/daemon/options.def"
	char *connect[PEER_COUNT];
	struct setting table[MAX_SETTINGS];
	size_t nsettings;
	/* derived from them */
	bool root, spools, ending, failed;
	struct bus_config bus;
	gid_t groups[PEER_COUNT];
	size_t ngroups;
	int state_fd, signal_fd;
	struct jail_path paths[MAX_PATHS];
	size_t npaths;
	uint64_t more_files;
	int64_t end_ms;
} self = { .state_fd = -1, .signal_fd = -1 };

const char *
daemon_run(void)
{
	return self.run;
}

const char *
daemon_instance(void)
{
	return self.instance;
}

const char *
daemon_state_root(void)
{
	return self.state;
}

int
daemon_state(void)
{
	return self.state_fd;
}

void
daemon_allow(int fd, unsigned access)
{
	must(self.npaths < MAX_PATHS);
	self.paths[self.npaths++] = (struct jail_path){ fd, access };
}

void
daemon_files(uint64_t more)
{
	self.more_files += more;
}

/* ---- settings ---- */

static void
add_setting(const struct setting *s)
{
	must(self.nsettings < MAX_SETTINGS - 1);
	self.table[self.nsettings++] = *s;
}

static const char *
own_user(void)
{
	static char user[64];

	snprintf(user, sizeof user, "cloister-%s", self.name);
	return user;
}

static void
add_common(void)
{
	/* clang-format off */
	const struct setting rows[] = {
#define SETTING(name, kind, fallback, low, high, also, doc) \
		{ #name, KIND_##kind, &self.name, fallback, low, high, also, doc },
#include "common/daemon/options.def"
	};
	/* clang-format on */

	settings_shared(self.table, &self.run, &self.state, &self.config, &self.log_level);
	self.nsettings = SETTINGS_SHARED;
	/* A daemon that serves no client on the bus may have another kind of setting "listen". */
	for (size_t i = 0; i < COUNT(rows); i++)
		if (self.d->routes != NULL || rows[i].to != &self.listen)
			add_setting(&rows[i]);
}

static void
add_connects(void)
{
	static char names[PEER_COUNT][32];

	for (enum peer to = PEER_FIRST; to < PEER_COUNT; to++) {
		if (edge_find(self.d->self, to) == NULL)
			continue;
		snprintf(names[to], sizeof names[to], "connect_%s", edge_peer_name(to));
		add_setting(&(struct setting){ .name = names[to],
		    .kind = KIND_TEXT,
		    .to = &self.connect[to],
		    .fallback = "",
		    .high = 4000,
		    .doc = "Endpoints, separated by commas: an instance, ipc:///path or "
			   "tcp://host:port; empty: instance 1." });
	}
}

static void
read_settings(int argc, char **argv)
{
	add_common();
	add_connects();
	settings_load(
	    self.name, self.d->summary ?: self.peer->doc, self.table, self.d->settings, argc, argv);
	published_note();
	int level = log_parse(self.log_level);
	if (level < 0) {
		fprintf(stderr, "%s: log_level is '%s', allowed is debug, info, warn or error\n",
		    self.name, self.log_level);
		exit(2);
	}
	log_open(self.name, (enum log_level)level);
}

/* ---- metrics ---- */

/* Why this daemon is not ready, or NULL. */
static const char *
find_missing(void)
{
	return self.ending ? "ending" : measure_fault() ?: measure_missing();
}

static struct monitor
monitor_of(void)
{
	return (struct monitor){
		.where = self.metrics,
		.name = self.name,
		.instance = self.instance,
		.uid = self.bus.uid,
		.measure = measure_all,
		.fault = measure_fault,
		.missing = find_missing,
	};
}

/* Each client has a gateway of its own, and only the first can listen. */
static int
open_monitor(struct err *e)
{
	const struct monitor place = monitor_of();

	if (monitor_open(&place, e) == 0)
		return 0;
	if (self.keeps != SHARED_STATE || e->sys != EADDRINUSE)
		return -1;
	log_info("continuing without metrics", LOG_E(e));
	return 0;
}

/* Another process asks the daemon that has these settings. */
static int
ask_health(void)
{
	const struct monitor place = monitor_of();
	struct err e;

	if (monitor_ask(&place, &e) < 0)
		return fprintf(stderr, "%s: %s\n", self.name, e.text), 1;
	return 0;
}

/* ---- messages to the starter ---- */

/* A status message is dropped if there is no room for it, so the important one is repeated. */
static void
tell_load(void *unused)
{
	char text[16 + MEASURE_STATUS], status[MEASURE_STATUS];

	(void)unused;
	measure_status(status);
	snprintf(text, sizeof text, "%sSTATUS=%s", self.ending ? "" : "READY=1\n", status);
	starter_tell(text);
	loop_after(TELL_MS, tell_load, NULL);
}

static void
tell_failure(const struct err *e)
{
	char text[sizeof e->text + 16];

	snprintf(text, sizeof text, "STATUS=%s", e->text);
	starter_tell(text);
}

/* ---- before the jail ---- */

static int
close_doors(struct err *e)
{
	unsigned kept = starter_inherit();

	umask(077);
	signal(SIGPIPE, SIG_IGN);
	if (close_range(3 + (kept > self.keep_fds ? kept : (unsigned)self.keep_fds), ~0U, 0) < 0)
		return err_sys(e, "close descriptors");
	self.signal_fd = loop_ends(e);
	return self.signal_fd < 0 ? -1 : 0;
}

static int
find_groups(struct err *e)
{
	char name[64];

	for (const struct edge *edge = edges; edge < edges + edges_count; edge++) {
		if (edge->client != self.d->self)
			continue;
		snprintf(name, sizeof name, "cloister-%s", edge->name);
		const struct group *group = getgrnam(name);
		if (group == NULL)
			return err_set(
			    e, ERR_unavailable, "no group %s; run compose/install-deps", name);
		self.groups[self.ngroups++] = group->gr_gid;
	}
	return 0;
}

static int
find_user(struct err *e)
{
	self.root = geteuid() == 0;
	self.bus.apart = self.root;
	self.bus.uid = geteuid();
	self.bus.gid = getegid();
	if (!self.root)
		return 0;
	const struct passwd *user = getpwnam(self.user);
	if (user == NULL)
		return err_set(
		    e, ERR_unavailable, "no user %s; run compose/install-deps", self.user);
	self.bus.uid = user->pw_uid;
	self.bus.gid = user->pw_gid;
	return find_groups(e);
}

/* <state>/<daemon>, followed by the instance unless that is "1". */
static int
make_state(struct err *e)
{
	char name[128];
	bool first = strcmp(self.instance, "1") == 0;

	auto_fd int base = fdio_directory(AT_FDCWD, self.state, self.root ? 0755 : 0700, e);
	if (base < 0)
		return err_add(e, "state");
	snprintf(
	    name, sizeof name, "%s%s%s", self.name, first ? "" : "-", first ? "" : self.instance);
	self.state_fd = fdio_directory(base, name, 0700, e);
	if (self.state_fd < 0)
		return err_add(e, "state");
	if (fchown(self.state_fd, self.bus.uid, self.bus.gid) < 0 ||
	    fchmod(self.state_fd, 0700) < 0)
		return err_sys(e, "own %s/%s", self.state, name);
	if (self.keeps != SHARED_STATE && flock(self.state_fd, LOCK_EX | LOCK_NB) < 0)
		return err_sys(e, "%s/%s: is another %s running?", self.state, name, self.name);
	daemon_allow(self.state_fd, JAIL_READ | JAIL_WRITE);
	return 0;
}

static int
have_state(struct err *e)
{
	if (make_state(e) == 0)
		return 0;
	if (self.keeps != SHARED_STATE)
		return -1;
	log_info("continuing without a directory", LOG_E(e));
	if (self.state_fd >= 0)
		close(self.state_fd);
	self.state_fd = -1;
	return 0;
}

static int
prepare_bus(struct err *e)
{
	struct bus_config *c = &self.bus;

	c->self = self.d->self;
	c->instance = self.instance;
	c->run = self.run;
	c->keys = self.keys;
	c->listen = self.listen != NULL ? self.listen : "";
	for (size_t i = 0; i < PEER_COUNT; i++)
		c->connect[i] = self.connect[i];
	c->connect_wait_ms = (int64_t)self.connect_wait_ms;
	c->max_calls = self.max_calls;
	c->routes = self.d->routes;
	c->load = self.d->load;
	c->fault = self.d->fault;
	c->replies = self.d->replies;
	/* The jail of a daemon without a state directory permits it to open no file. */
	c->run_fd = self.keeps != NO_STATE ? open(self.run, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (c->run_fd >= 0)
		daemon_allow(c->run_fd, JAIL_READ);
	if (bus_prepare(c, e) < 0)
		return -1;
	for (size_t i = 0; i < bus_needs()->nfolders; i++)
		daemon_allow(bus_needs()->directories[i], JAIL_BIND);
	return 0;
}

static int
prepare(struct err *e)
{
	if (close_doors(e) < 0 || find_user(e) < 0 || (self.keeps != NO_STATE && have_state(e) < 0))
		return -1;
	if (measure_open(self.d, e) < 0 || open_monitor(e) < 0)
		return -1;
	starter_connect();
	if ((self.d->open != NULL && self.d->open(e) < 0) ||
	    operator_open(self.d->self, self.d->routes, self.run, e) < 0)
		return -1;
	if (loop_open(e) < 0 || prepare_bus(e) < 0)
		return -1;
	if (self.keeps != SHARED_STATE)
		published_write(self.run, self.name);
	return 0;
}

/* ---- the jail ---- */

static const char *
in_force(bool layer)
{
	return layer ? "in force" : "not in force";
}

static void
tell_jail(const char *text, const struct jail_report *r)
{
	log_info(text, LOG_N("uid", self.bus.uid), LOG_S("own_uid", in_force(r->uid)),
	    LOG_S("capabilities_empty", in_force(r->capabilities)),
	    LOG_S("no_new_privs", in_force(r->no_new_privs)),
	    LOG_S("landlock", in_force(r->landlock)), LOG_S("seccomp", in_force(r->seccomp)));
}

int
daemon_confine(const int *syscalls, struct err *e)
{
	struct jail_report r;
	const struct jail jail = { .uid = self.bus.uid,
		.gid = self.bus.gid,
		.confined = true,
		.syscalls = syscalls,
		.refused = self.d->refused,
		.memory_bytes = self.d->memory_bytes,
		.open_files = FILES_CONFINED };

	if (jail_enter(&jail, &r, e) < 0)
		return -1;
	tell_jail("jail of helper process", &r);
	return 0;
}

static int
enter_jail(struct err *e)
{
	struct jail_report r;
	const struct jail jail = {
		.uid = self.bus.uid,
		.gid = self.bus.gid,
		.groups = self.groups,
		.ngroups = self.ngroups,
		.paths = self.paths,
		.npaths = self.npaths,
		.tcp_connect = bus_needs()->tcp_connect,
		.tcp_bind = bus_needs()->tcp_bind,
		.outside = self.d->outside,
		.files = self.keeps != NO_STATE,
		.syscalls = self.d->syscalls,
		.refused = self.d->refused,
		.memory_bytes = self.d->memory_bytes,
		.open_files = self.peer->open_files + self.more_files,
	};

	if (jail_enter(&jail, &r, e) < 0)
		return -1;
	tell_jail("jail", &r);
	return 0;
}

/* ---- in the jail ---- */

static void
record(enum event event)
{
	char detail[160];
	struct audit_event happened = { .event = (int)event, .detail = detail };
	struct err e;

	if (!self.spools || self.keeps == SHARED_STATE)
		return;
	snprintf(
	    detail, sizeof detail, "%s %s, version %s", self.name, self.instance, CLOISTER_VERSION);
	if (spool_record(&happened, &e) < 0)
		log_error("event not recorded", LOG_S("event", word_text(SET_event, (int)event)),
		    LOG_E(&e));
	happened.detail = NULL; /* detail is ours; uid and time belong to the event */
	message_clear(MSG_audit_event, &happened);
}

int
daemon_spool(struct err *e)
{
	if (self.spools)
		return 0;
	if (self.state_fd < 0)
		return err_set(e, ERR_unavailable, "no state directory for the spool");
	if (spool_open(self.state_fd, self.spool_bytes, e) < 0)
		return -1;
	self.spools = true;
	return 0;
}

static int
open_spool(struct err *e)
{
	if (self.keeps != OWN_STATE || edge_find(self.d->self, PEER_auditd) == NULL)
		return 0;
	return daemon_spool(e);
}

static void
end_when_idle(void *unused)
{
	/* The last recorded events can still be sent if auditd is connected. */
	bool sending = self.spools && spool_waiting() > 0 && bus_ready(PEER_auditd, NULL);

	size_t open = bus_drain() + (self.d->drain == NULL ? 0 : self.d->drain());

	(void)unused;
	if ((open == 0 && !sending) || loop_now_ms() >= self.end_ms)
		loop_stop();
	else
		loop_after(END_POLL_MS, end_when_idle, NULL);
}

static void
begin_end(void)
{
	if (self.ending)
		return;
	self.ending = true;
	self.end_ms = loop_now_ms() + (int64_t)self.drain_ms;
	starter_tell("STOPPING=1");
	log_info("draining", LOG_N("open", bus_drain()));
	record(event_daemon_stopped);
	end_when_idle(NULL);
}

static void
on_signal(void *unused, uint32_t events)
{
	struct signalfd_siginfo info;

	(void)unused, (void)events;
	if (read(self.signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
		begin_end();
}

void
daemon_end(const char *why)
{
	if (why != NULL) {
		self.failed = true;
		log_error("ends", LOG_S("why", why));
	}
	begin_end();
}

static int
start(struct err *e)
{
	if (enter_jail(e) < 0 || bus_start(e) < 0 || open_spool(e) < 0 ||
	    loop_watch(self.signal_fd, EPOLLIN, on_signal, NULL, e) < 0)
		return -1;
	record(event_daemon_started);
	if (monitor_start(e) < 0)
		return -1;
	if ((self.d->start != NULL && self.d->start(e) < 0) || operator_start(e) < 0)
		return -1;
	if (starter_listens())
		tell_load(NULL);
	log_info("ready", LOG_S("instance", self.instance), LOG_S("version", CLOISTER_VERSION));
	return 0;
}

static void
stop(void)
{
	bus_stop();
	operator_stop();
	monitor_stop();
	if (self.d->stop != NULL)
		self.d->stop();
	if (self.spools)
		spool_close();
	loop_close();
	metric_close();
	log_info("ended");
}

int
daemon_main(int argc, char **argv, const struct daemon *d)
{
	struct err e;

	starter_settle();
	if (d->self != PEER_vault)
		starter_forget_secrets();
	self.d = d;
	self.peer = &edge_peers[d->self];
	self.name = self.peer->name;
	self.keeps = d->stateless ? NO_STATE : self.peer->state;
	log_open(self.name, LOG_info);
	read_settings(argc, argv);
	if (instance_settle(&self.instance, &e) < 0) {
		log_error("could not start", LOG_E(&e));
		return 1;
	}
	if (self.healthy)
		return ask_health();
	if (prepare(&e) < 0 || start(&e) < 0) {
		log_error("could not start", LOG_E(&e));
		tell_failure(&e);
		return 1;
	}
	if (loop_run(&e) < 0) {
		log_error("loop", LOG_E(&e));
		self.failed = true;
	}
	stop();
	return self.failed ? 1 : 0;
}
