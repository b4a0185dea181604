/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder_link.c - the executor's end of the socket to cloister-builder.
 *
 * Trusts the builder, which has more privileges than this process, to answer.  It checks every id
 * in an answer, so that a faulty builder cannot corrupt this process.  Without a builder there are
 * no boxes: its end ends this daemon, after all waiting calls were answered.
 */
#include "executor/sandbox/builder_link.h"

#include "executor/metrics.h"
#include "executor/sandbox/builder.h"
#include "executor/sandbox/isolation.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/pidstat.h"
#include "common/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
	END_MS = 3000,
	BATCH = 64,                     /* answers read before other events are handled */
	MOST_FDS = 1 + ORDER_MAX_PORTS, /* of an answer; more than CGROUP_USES */
};

struct builder_request {
	uint32_t id;
	struct builder_request_events events;
	void *self;
};

/* An order that the socket had no room for. */
struct waiting {
	struct waiting *next;
	struct order order;
	int fds[ORDER_MAX_FDS];
	size_t nfds;
};

static struct {
	int sock;
	bool gone;
	uint64_t ready_ms;  /* time limit for the start of the builder */
	bool hangs;         /* the builder that was started hangs */
	struct err refused; /* ERR_none, or why this host can have no boxes */
	struct isolation isolation;
	int kept[BUILDER_KEPT]; /* ORDER_WORKSPACE_TABLE and ORDER_SLOT; -1: none */
	bool goes_on;           /* the builder continues with those of an earlier one */
	struct builder_request *builder_requests[ORDER_MAX_LIVING + 1];
	uint32_t last; /* the last id given; the search for the next one starts after it */
	struct waiting *first, **end;
} line = { .sock = -1, .kept = { -1, -1 } };

/* ---- starting it ---- */

/* The descriptors have numbers above those that they will get here. */
static void
become_builder(const int fds[1 + BUILDER_KEPT], char **argv)
{
	int last = ORDER_SOCKET;

	for (int i = 0; i < 1 + BUILDER_KEPT && fds[i] >= 0; i++)
		if (dup2(fds[i], last = ORDER_SOCKET + i) < 0)
			_exit(1);
	if (close_range((unsigned)last + 1, ~0u, 0) < 0 || setpgid(0, 0) < 0)
		_exit(1);
	execv(argv[0], argv);
	_exit(127);
}

static int
start_builder(int sock, char **argv)
{
	int fds[1 + BUILDER_KEPT] = { sock, line.kept[0], line.kept[1] };

	pid_t keeper = fork();

	if (keeper != 0)
		return keeper;
	for (size_t i = 0; i < COUNT(fds) && fds[i] >= 0; i++)
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, ORDER_SOCKET + (int)COUNT(fds));
	become_builder(fds, argv);
	_exit(127);
}

static int
find_builder(char path[4096], struct err *e)
{
	ssize_t n = readlink("/proc/self/exe", path, 4096);

	if (n < 0 || n == 4096)
		return err_sys(e, "read /proc/self/exe");
	path[n] = '\0';
	char *last = strrchr(path, '/');

	if (last == NULL || (size_t)(last - path) + sizeof "/cloister-builder" > 4096)
		return err_set(e, ERR_internal, "the path of this program is invalid");
	memcpy(last, "/cloister-builder", sizeof "/cloister-builder");
	return access(path, X_OK) < 0 ? err_sys(e, "%s", path) : 0;
}

/* Where the builder hangs is all that an operator can learn, because the kernel holds it. */
static int
refuse_hang(pid_t keeper, struct err *e)
{
	char seen[PIDSTAT_TEXT];

	line.hangs = true;
	pidstat_text(keeper, seen);
	/* Its group first: the process that it cloned dies with it only after prctl(2). */
	kill(-keeper, SIGKILL);
	kill(keeper, SIGKILL);
	return err_set(e, ERR_internal,
	    "the builder (pid %d) did not answer within %" PRIu64 " ms: %s", (int)keeper,
	    line.ready_ms, seen);
}

static int
await_ready(pid_t keeper, struct answer *answer, struct err *e)
{
	struct pollfd readable = { .fd = line.sock, .events = POLLIN };
	int fds[BUILDER_KEPT], n;
	size_t nfds = COUNT(fds);

	do
		n = poll(&readable, 1, (int)line.ready_ms);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return refuse_hang(keeper, e);
	ssize_t size = fdio_receive(line.sock, answer, sizeof *answer, fds, &nfds, 0);

	if (size != (ssize_t)sizeof *answer || answer->kind != ANSWER_READY)
		return err_set(
		    e, ERR_internal, "the builder ended during its start; its log has the reason");
	line.goes_on = nfds != BUILDER_KEPT && line.kept[0] >= 0;
	for (size_t i = 0; !line.goes_on && i < COUNT(line.kept); i++) {
		if (line.kept[i] >= 0)
			close(line.kept[i]);
		line.kept[i] = nfds == BUILDER_KEPT ? fds[i] : -1;
	}
	return 0;
}

/* Called before the fork: nothing is allocated between fork and exec. */
static char **
make_argv(char *path, const struct texts *arguments)
{
	size_t n = arguments != NULL ? arguments->count : 0;
	char **argv = calloc(n + 2, sizeof *argv);

	if (argv == NULL)
		return NULL;
	argv[0] = path;
	for (size_t i = 0; i < n; i++)
		argv[i + 1] = arguments->items[i];
	return argv;
}

static int
start_and_wait(char **argv, struct answer *answer, struct err *e)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "socketpair");
	pid_t keeper = start_builder(pair[1], argv);

	close(pair[1]);
	line.sock = pair[0];
	line.end = &line.first;
	return keeper < 0 ? err_sys(e, "fork") : await_ready(keeper, answer, e);
}

/* A builder that starts is more important than the kept state.  After a hang there is no second
 * attempt: the cause is the kernel, not the kept state, so the next builder would hang, too. */
static int
start_without_kept(char **argv, struct answer *answer, struct err *e)
{
	if (line.kept[0] < 0 || line.hangs)
		return -1;
	log_error(
	    "the builder did not start with the workspaces of an earlier one; they are dropped",
	    LOG_E(e));
	close(take_fd(&line.sock));
	for (size_t i = 0; i < COUNT(line.kept); i++)
		close(take_fd(&line.kept[i]));
	return start_and_wait(argv, answer, e);
}

int
builder_open(const struct texts *arguments, uint64_t ready_ms, struct err *e)
{
	char path[4096];
	struct answer answer;

	if (find_builder(path, e) < 0)
		return -1;

	auto_free char **argv = make_argv(path, arguments);

	if (argv == NULL)
		return err_sys(e, "arguments of the builder");
	line.ready_ms = ready_ms;
	if (start_and_wait(argv, &answer, e) < 0 && start_without_kept(argv, &answer, e) < 0)
		return -1;
	line.refused = answer.error;
	if (line.refused.code != ERR_none)
		log_error("no box can be made on this host", LOG_E(&line.refused));
	return isolation_of(&answer.layers, &line.isolation) < 0
	           ? err_set(e, ERR_internal, "no memory")
	           : 0;
}

int
builder_require(struct err *e)
{
	if (isolation_demanded() && line.refused.code != ERR_none) {
		*e = line.refused;
		return err_add(e, "require_layers");
	}
	return isolation_require(&line.isolation, e);
}

const char *
builder_refused(void)
{
	return line.refused.code != ERR_none ? line.refused.text : NULL;
}

void
builder_give(int kept[BUILDER_KEPT])
{
	for (size_t i = 0; i < BUILDER_KEPT; i++)
		line.kept[i] = take_fd(&kept[i]);
}

bool
builder_leave(int kept[BUILDER_KEPT])
{
	for (size_t i = 0; i < BUILDER_KEPT; i++)
		kept[i] = take_fd(&line.kept[i]);
	return line.goes_on;
}

const struct isolation *
builder_isolation(void)
{
	return &line.isolation;
}

/* ---- orders ---- */

static void
waiting_free(struct waiting *w)
{
	while (w->nfds > 0)
		close(w->fds[--w->nfds]);
	free(w);
}

static int
queue(const struct order *order, const int *fds, size_t nfds, struct err *e)
{
	struct waiting *w = calloc(1, sizeof *w);

	if (w == NULL)
		return err_set(e, ERR_internal, "no memory");
	w->order = *order;
	for (; w->nfds < nfds; w->nfds++) {
		w->fds[w->nfds] = fcntl(fds[w->nfds], F_DUPFD_CLOEXEC, 0);
		if (w->fds[w->nfds] < 0) {
			err_sys(e, "copy a descriptor");
			waiting_free(w);
			return -1;
		}
	}
	if (line.first == NULL && loop_change(line.sock, EPOLLIN | EPOLLOUT, e) < 0) {
		waiting_free(w);
		return -1;
	}
	*line.end = w;
	line.end = &w->next;
	return 0;
}

static int
send_order(const struct order *order, const int *fds, size_t nfds, struct err *e)
{
	if (line.refused.code != ERR_none) {
		*e = line.refused;
		return -1;
	}
	if (line.gone)
		return err_set(e, ERR_unavailable, "the builder has ended");
	if (order_check(order, nfds, e) < 0)
		return -1;
	if (line.first != NULL)
		return queue(order, fds, nfds, e);
	if (fdio_send(line.sock, order, sizeof *order, fds, nfds) >= 0)
		return 0;
	return errno == EAGAIN ? queue(order, fds, nfds, e)
	                       : err_sys(e, "send an order to the builder");
}

static void
send_waiting(void)
{
	struct err ignored;

	while (line.first != NULL) {
		struct waiting *w = line.first;

		if (fdio_send(line.sock, &w->order, sizeof w->order, w->fds, w->nfds) < 0)
			return;
		line.first = w->next;
		if (line.first == NULL)
			line.end = &line.first;
		waiting_free(w);
	}
	loop_change(line.sock, EPOLLIN, &ignored);
}

int
builder_order(const struct order *order, struct err *e)
{
	return send_order(order, NULL, 0, e);
}

struct builder_request *
builder_request_start(struct order *order, const int *fds, size_t nfds,
    const struct builder_request_events *events, void *self, struct err *e)
{
	uint32_t id = line.last, tries = 0;

	do
		id = id % ORDER_MAX_LIVING + 1;
	while (line.builder_requests[id] != NULL && ++tries < ORDER_MAX_LIVING);
	if (line.builder_requests[id] != NULL) {
		err_set(e, ERR_unavailable,
		    "%d boxes and programs exist already, which is the limit", ORDER_MAX_LIVING);
		return NULL;
	}
	struct builder_request *builder_request = malloc(sizeof *builder_request);

	if (builder_request == NULL) {
		err_set(e, ERR_internal, "no memory");
		return NULL;
	}
	*builder_request = (struct builder_request){ id, *events, self };
	order->id = id;
	if (send_order(order, fds, nfds, e) < 0) {
		free(builder_request);
		return NULL;
	}
	line.last = id;
	return line.builder_requests[id] = builder_request;
}

/* Sends an order that gets no reply; if the builder has ended, everything in it has ended
 * already. */
static bool
tell(struct order order)
{
	struct err e;

	if (send_order(&order, NULL, 0, &e) == 0)
		return true;
	if (e.code != ERR_unavailable)
		log_error("an order was not sent", LOG_N("kind", order.kind), LOG_E(&e));
	return false;
}

void
builder_request_kill(struct builder_request *builder_request)
{
	tell((struct order){ .kind = ORDER_KILL, .id = builder_request->id });
}

void
builder_request_signal(struct builder_request *builder_request, int signal)
{
	tell((struct order){
	    .kind = ORDER_SIGNAL, .id = builder_request->id, .signal = (uint32_t)signal });
}

bool
builder_request_clock(struct builder_request *builder_request, uint64_t wall_ms, uint64_t cpu_ms)
{
	return tell((struct order){
	    .kind = ORDER_CLOCK, .id = builder_request->id, .wall_ms = wall_ms, .cpu_ms = cpu_ms });
}

bool
builder_request_count(struct builder_request *builder_request)
{
	return tell((struct order){ .kind = ORDER_COUNT, .id = builder_request->id });
}

uint32_t
builder_request_id(const struct builder_request *builder_request)
{
	return builder_request->id;
}

/* ---- answers ---- */

static void
end_builder_request(uint32_t id, const struct answer *answer)
{
	struct builder_request *builder_request = line.builder_requests[id];

	line.builder_requests[id] = NULL;
	builder_request->events.ended(builder_request->self, answer);
	free(builder_request);
}

static void
take_answer(const struct answer *answer, int *fds, size_t nfds)
{
	struct builder_request *builder_request =
	    answer->id <= ORDER_MAX_LIVING ? line.builder_requests[answer->id] : NULL;

	if (answer->kind == ANSWER_WORKSPACE) {
		workspace_answered(answer, nfds > 0 ? take_fd(&fds[0]) : -1);
		return;
	}
	metrics_note_answer(answer);
	if (builder_request == NULL)
		log_warn("the builder sent an unknown id", LOG_N("id", answer->id));
	else if (answer->kind == ANSWER_ENDED)
		end_builder_request(answer->id, answer);
	else if (answer->kind == ANSWER_STARTED && builder_request->events.started != NULL)
		builder_request->events.started(builder_request->self, answer, fds, nfds);
	else if ((answer->kind == ANSWER_USED || answer->kind == ANSWER_COUNTED) &&
		 builder_request->events.used != NULL)
		builder_request->events.used(builder_request->self, answer);
	else if (answer->kind == ANSWER_KILLED && builder_request->events.killed != NULL)
		builder_request->events.killed(builder_request->self, answer);
}

static void
lose(void)
{
	struct answer answer = { .kind = ANSWER_ENDED };

	line.gone = true;
	loop_forget(line.sock);
	err_set(&answer.error, ERR_unavailable, "the builder ended");
	for (uint32_t id = 1; id <= ORDER_MAX_LIVING; id++)
		if (line.builder_requests[id] != NULL) {
			answer.id = id;
			end_builder_request(id, &answer);
		}
	workspace_lost(&answer.error);
	daemon_end("the builder ended");
}

static void
on_socket(void *self, uint32_t events)
{
	struct answer answer;

	(void)self;
	if ((events & EPOLLOUT) != 0)
		send_waiting();
	for (int i = 0; i < BATCH && !line.gone; i++) {
		int fds[MOST_FDS];
		size_t nfds = COUNT(fds);
		ssize_t n = fdio_receive(line.sock, &answer, sizeof answer, fds, &nfds, 0);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n == (ssize_t)sizeof answer || (n < 0 && errno == EMFILE))
			take_answer(&answer, fds, nfds);
		else
			lose();
		while (nfds-- > 0)
			if (fds[nfds] >= 0)
				close(fds[nfds]);
	}
}

int
builder_start(struct err *e)
{
	if (line.refused.code != ERR_none)
		return 0;
	if (fcntl(line.sock, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(e, "fcntl");
	return loop_watch(line.sock, EPOLLIN, on_socket, NULL, e);
}

/* Waits until no box is left when this daemon ends: the socket is closed with the last one. */
static void
await_end(void)
{
	int64_t until = loop_now_ms() + END_MS, left;
	struct pollfd readable = { .fd = line.sock, .events = POLLIN };
	struct answer ignored;

	if (shutdown(line.sock, SHUT_WR) < 0)
		return;
	while ((left = until - loop_now_ms()) > 0) {
		int fd = -1;
		size_t nfds = 1;
		ssize_t n = 0;

		if (poll(&readable, 1, (int)left) > 0)
			n = fdio_receive(
			    line.sock, &ignored, sizeof ignored, &fd, &nfds, MSG_DONTWAIT);
		if (fd >= 0)
			close(fd);
		if (n == 0)
			return;
	}
}

void
builder_stop(void)
{
	if (line.sock < 0)
		return;
	loop_forget(line.sock);
	await_end();
	close(take_fd(&line.sock));
	line.gone = true;
	while (line.first != NULL) {
		struct waiting *w = line.first;

		line.first = w->next;
		waiting_free(w);
	}
	message_clear(MSG_isolation, &line.isolation);
}
