/* SPDX-License-Identifier: Apache-2.0 */
/* bus_peer.c - servers that do what a test's request asks, and a client that records the
 * results. */
#include "tests/unit/bus_peer.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/bus/inner.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

enum {
	MAX_SERVERS = 8,
};

static char directory[64];
static pid_t servers[MAX_SERVERS];
static size_t nservers;
static int notes[2];
static const char *instance_name;

/* ---- server ---- */

static void
note(enum err_code cancelled)
{
	struct peer_note n = { cancelled };

	must(write(notes[1], &n, sizeof n) == sizeof n);
}

static void
on_cancel(struct call *call, enum err_code why)
{
	struct err e;

	note(why);
	err_set(&e, why, "ended by the test");
	call_fail(call, &e);
}

static void
reply_text(struct call *call, const char *text)
{
	struct snapshot_content reply = { .content = blob_text(text) };

	call_reply(call, &reply);
}

static void
do_echo(struct call *call)
{
	char text[256];

	snprintf(text, sizeof text, "%s %s %s", call->owner.principal, call->owner.namespace,
	    call->trace);
	reply_text(call, text);
}

static void
do_counts(struct call *call)
{
	struct snapshot_content reply = { .content =
					      blob_copy(bus_counts(), sizeof(struct bus_counts)) };

	call_reply(call, &reply);
}

static void
do_instance(struct call *call)
{
	reply_text(call, instance_name);
}

static void
do_stream(struct call *call)
{
	for (int i = 0; i < 2; i++) {
		struct stream_part part = { .channel = channel_stdout,
			.text = blob_text(i == 0 ? "first" : "second") };

		must(call_stream(call, &part) == 0);
	}
	reply_text(call, "streamed");
}

static void
do_hang(struct call *call)
{
	call->on_cancel = on_cancel;
}

/* Of zeros that nobody wrote, which weigh nothing. */
static void
do_heap(struct call *call)
{
	struct snapshot_content reply = { .content = { calloc(1, PEER_HEAP), PEER_HEAP } };

	must(reply.content.data != NULL);
	call_reply(call, &reply);
}

/* Its loop, that is; ZeroMQ's thread goes on. */
static void
do_busy(struct call *call)
{
	sleep(PEER_BUSY_S);
	reply_text(call, "done");
}

/* Messages are read before the loop sees an event. */
static void
do_late(struct call *call)
{
	sleep(PEER_LATE_S);
	server_pump(true);
	reply_text(call, "done");
}

static void
do_drain(struct call *call)
{
	bus_drain();
	reply_text(call, "draining");
}

static struct call *adopted;

/* What came of it is noted: its error, or that it was replied to. */
static void
adopted_ended(void *self, struct packed *content, const struct err *e)
{
	must(self == &adopted);
	adopted = NULL;
	note(content != NULL ? ERR_file_exists : e->code);
}

/* "adopt ID" */
static int
adopt(struct call *call, const char *id, struct err *e)
{
	struct call *found = call_beside(call, strtoull(id, NULL, 10));

	if (found == NULL)
		return err_set(e, ERR_not_found, "there is no such call");
	adopted = found;
	call_adopt(adopted, adopted_ended, &adopted);
	reply_text(call, "adopted");
	return 0;
}

static void
do_stop(struct call *call)
{
	call_stop(adopted);
	reply_text(call, "stopped");
}

static void
do_finish(struct call *call)
{
	reply_text(adopted, "finished");
	reply_text(call, "done");
}

static const struct {
	const char *name;
	void (*act)(struct call *);
} acts[] = {
	{ "echo", do_echo },
	{ "counts", do_counts },
	{ "instance", do_instance },
	{ "stream", do_stream },
	{ "hang", do_hang },
	{ "heap", do_heap },
	{ "drain", do_drain },
	{ "stop", do_stop },
	{ "finish", do_finish },
	{ "busy", do_busy },
	{ "late", do_late },
};

static int
on_get(struct call *call, void *request, struct err *e)
{
	const struct snapshot_get *get = request;

	for (size_t i = 0; i < COUNT(acts); i++)
		if (strcmp(acts[i].name, get->snapshot_id) == 0) {
			acts[i].act(call);
			return 0;
		}
	if (strncmp(get->snapshot_id, "adopt ", 6) == 0)
		return adopt(call, get->snapshot_id + 6, e);
	if (strncmp(get->snapshot_id, "shortage", 8) == 0) {
		errno = EMFILE;
		return err_sys(e, "told to fail%*s", atoi(get->snapshot_id + 8), "");
	}
	return err_set(e,
	    strncmp(get->snapshot_id, "fault", 5) == 0 ? ERR_internal : ERR_snapshot_corrupt,
	    "told to fail: %s", get->snapshot_id);
}

static int
on_put(struct call *call, void *request, struct err *e)
{
	const struct snapshot_put *put = request;
	const uint8_t *bytes = put->content.data;
	struct nothing reply = { .ok = true };

	for (size_t i = 0; i < put->content.size; i += 4096)
		if (bytes[i] != (uint8_t)(i >> 12))
			return err_set(e, ERR_internal, "byte %zu is wrong", i);
	call_reply(call, &reply);
	return 0;
}

static const struct route routes[] = {
	{ MSG_snapshot_get, FROM(executor), on_get },
	{ MSG_snapshot_put, FROM(executor), on_put },
	{ MSG_snapshot_drop, FROM(gateway), on_get },
	{ MSG_none, 0, NULL },
};

static const char *
is_faulty(void)
{
	return "no room here";
}

static void
begin(enum peer self, const struct route *table, const struct peer_options *o)
{
	struct err e;
	struct bus_config config = { .self = self,
		.instance = o->instance,
		.run = directory,
		.keys = o->keys,
		.listen = o->listen,
		.connect_wait_ms = o->connect_wait_ms == 0 ? 5000 : o->connect_wait_ms,
		.max_calls = o->max_calls,
		.routes = table };

	config.fault = o->faulty ? is_faulty : NULL;
	config.connect[PEER_snapshotd] = o->connect;
	if (loop_open(&e) < 0 || bus_prepare(&config, &e) < 0 || bus_start(&e) < 0) {
		fprintf(stderr, "bus_peer: %s\n", e.text);
		abort();
	}
}

static void
run_server(const struct peer_options *o)
{
	struct err e;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	instance_name = o->instance == NULL ? "1" : o->instance;
	begin(PEER_snapshotd, routes, o);
	loop_run(&e);
	_exit(1);
}

pid_t
peer_serve(const struct peer_options *o)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		run_server(o);
	assert_true(nservers < MAX_SERVERS);
	servers[nservers++] = pid;
	return pid;
}

void
peer_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (size_t i = 0; i < nservers; i++)
		if (servers[i] == pid)
			servers[i] = 0;
}

/* ---- life ---- */

int
peer_setup(void **state)
{
	(void)state;
	log_open("test", LOG_error);
	snprintf(directory, sizeof directory, "/tmp/test-bus-XXXXXX");
	nservers = 0;
	return mkdtemp(directory) != NULL && pipe2(notes, O_CLOEXEC) == 0 ? 0 : -1;
}

static void
remove_all(const char *path)
{
	char below[512];
	auto_dir DIR *dir = opendir(path);

	for (const struct dirent *d; dir != NULL && (d = readdir(dir)) != NULL;) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		snprintf(below, sizeof below, "%s/%s", path, d->d_name);
		if (d->d_type == DT_DIR)
			remove_all(below);
		unlink(below);
	}
	rmdir(path);
}

int
peer_teardown(void **state)
{
	(void)state;
	bus_stop();
	loop_close();
	for (size_t i = 0; i < nservers; i++)
		if (servers[i] != 0)
			peer_kill(servers[i]);
	close(notes[0]);
	close(notes[1]);
	remove_all(directory);
	return 0;
}

const char *
peer_directory(void)
{
	return directory;
}

void
peer_client(const struct peer_options *o)
{
	begin(PEER_executor, NULL, o);
}

int
peer_free_port(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	socklen_t size = sizeof any;
	auto_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&any, size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&any, &size), 0);
	return ntohs(any.sin_port);
}

enum err_code
peer_note(int ms)
{
	struct peer_note n = { ERR_none };
	struct pollfd readable = { notes[0], POLLIN, 0 };

	if (poll(&readable, 1, ms) == 1)
		assert_int_equal(read(notes[0], &n, sizeof n), sizeof n);
	return n.cancelled;
}

/* ---- client ---- */

static void
on_part(void *self, const struct stream_part *part)
{
	struct outcome *o = self;

	assert_false(o->ended);
	assert_string_equal(part->text.data, o->parts == 0 ? "first" : "second");
	o->parts++;
}

static void
end(struct outcome *o, bool replied, const struct err *e)
{
	assert_false(o->ended); /* exactly once */
	o->ended = true;
	o->replied = replied;
	o->ended_ms = loop_now_ms();
	if (e != NULL)
		o->e = *e;
}

static void
on_content(void *self, void *reply, const struct err *e)
{
	struct outcome *o = self;
	const struct snapshot_content *content = reply;

	if (content != NULL) {
		assert_true(content->content.size < sizeof o->text);
		memcpy(o->text, content->content.data, content->content.size);
	}
	end(o, reply != NULL, e);
	loop_stop();
}

static void
on_nothing(void *self, void *reply, const struct err *e)
{
	end(self, reply != NULL, e);
	loop_stop();
}

static void
start(struct outcome *o, struct ask *ask)
{
	*o = (struct outcome){ .asked_ms = loop_now_ms() };
	if (ask->to == PEER_none)
		ask->to = PEER_snapshotd;
	ask->self = o;
	o->id = bus_ask(ask, &o->e);
	if (o->id == 0)
		o->ended = true;
}

static char digest[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

void
peer_ask(struct outcome *o, const char *what, const char *instance, int64_t timeout_ms)
{
	struct snapshot_get get = { .snapshot_id = (char *)what, .sha256 = digest };
	struct ask ask = { .instance = instance,
		.message = MSG_snapshot_get,
		.request = &get,
		.owner = &(struct owner){ "local:7", "here" },
		.trace = "00-trace",
		.timeout_ms = timeout_ms,
		.part = on_part,
		.done = on_content };

	start(o, &ask);
}

void
peer_ask_home(struct outcome *o, const char *what, const char *principal)
{
	struct snapshot_get get = { .snapshot_id = (char *)what, .sha256 = digest };
	struct owner owner;
	struct ask ask = { .home = true,
		.message = MSG_snapshot_get,
		.request = &get,
		.owner = &owner,
		.done = on_content };

	assert_true(owner_set(&owner, principal, NULL));
	start(o, &ask);
}

void
peer_put(struct outcome *o, size_t bytes)
{
	struct snapshot_put put = { .sha256 = digest, .content = { malloc(bytes + 1), bytes } };
	struct ask ask = { .message = MSG_snapshot_put, .request = &put, .done = on_nothing };

	assert_non_null(put.content.data);
	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)put.content.data)[i] = (uint8_t)(i >> 12);
	start(o, &ask);
}

void
peer_put_heap(struct outcome *o, enum peer to)
{
	struct snapshot_put put = { .sha256 = digest,
		.content = { calloc(1, PEER_HEAP), PEER_HEAP } };
	struct ask ask = {
		.to = to, .message = MSG_snapshot_put, .request = &put, .done = on_nothing
	};

	assert_non_null(put.content.data);
	start(o, &ask);
}

static void
stop(void *unused)
{
	(void)unused;
	loop_stop();
}

void
peer_run(int ms)
{
	struct err e;
	uint64_t timer = loop_after(ms, stop, NULL);

	assert_int_equal(loop_run(&e), 0);
	loop_unset(timer);
}

bool
peer_wait(const struct outcome *o, int ms)
{
	int64_t until = loop_now_ms() + ms;

	for (int64_t left; !o->ended && (left = until - loop_now_ms()) > 0;)
		peer_run((int)left);
	return o->ended;
}

struct outcome
peer_try(const char *what)
{
	struct outcome o;

	peer_ask(&o, what, NULL, 0);
	assert_true(peer_wait(&o, 10000));
	return o;
}

struct bus_counts
peer_counts(void)
{
	struct outcome o = peer_try("counts");
	struct bus_counts c;

	assert_true(o.replied);
	memcpy(&c, o.text, sizeof c);
	return c;
}
