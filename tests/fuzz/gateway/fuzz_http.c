/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_http.c - a connection over which anything may come: requests, bodies, what resumes a stream.
 *
 * Input: how daemons answer (1 byte), how many bytes come at once (1), and what is left is sent to
 * the gateway's own address.  What comes back is HTTP, and once the client has gone and its time is
 * over, nothing is left of it.
 */
#include "tests/fuzz/gateway/replies.h"

#include "gateway/mcp/sealed.h"
#include "gateway/mcp/tools.h"
#include "gateway/options.h"
#include "gateway/transport/http/http.h"
#include "gateway/transport/http/session.h"
#include "gateway/transport/http/state.h"
#include "gateway/transport/http/web.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/daemon/daemon.h"

#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	TURNS = 4,        /* of the loop, until all that can happen has */
	PATIENCE = 400,   /* turns, for what takes longer */
	LATER_S = 100000, /* when every time is over */
	MOST_BYTES = 1 << 20,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- the process around it ---- */

static time_t later_s;

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	int failed = (int)syscall(SYS_clock_gettime, clock, now);

	if (clock == CLOCK_MONOTONIC)
		now->tv_sec += later_s;
	return failed;
}

void
daemon_files(uint64_t more)
{
	(void)more;
}

void
daemon_allow(int fd, unsigned access)
{
	(void)fd;
	(void)access;
}

int
daemon_spool(struct err *e)
{
	return err_set(e, ERR_unavailable, "there is none");
}

int
daemon_state(void)
{
	return -1;
}

const char *
daemon_state_root(void)
{
	return "/nowhere";
}

const char *
daemon_instance(void)
{
	return "fuzz";
}

/* ---- the loop ---- */

static void
on_next(void *unused)
{
	(void)unused;
	loop_stop();
}

/* What is ready is looked at before the next. */
static void
on_turn(void *unused)
{
	(void)unused;
	loop_after(0, on_next, NULL);
}

static void
turn(size_t times)
{
	struct err e;

	for (size_t i = 0; i < times; i++) {
		loop_after(0, on_turn, NULL);
		must(loop_run(&e) == 0);
	}
}

static void
answer(void)
{
	while (replies_wanted() > 0) {
		replies_give();
		turn(TURNS);
	}
}

static void
set_up(void)
{
	static bool done;
	struct err e;
	static char flags[][32] = { "gateway", "--transport=sse", "--listen=127.0.0.1:0",
		"--anonymous", "--toolsets=all" };
	char *argv[COUNT(flags)];

	if (done)
		return;
	done = true;
	log_open("fuzz", LOG_error);
	for (size_t i = 0; i < COUNT(flags); i++)
		argv[i] = flags[i];
	must(settings_read("gateway", NULL, options_table, COUNT(argv), argv, &e) == 0);
	must(loop_open(&e) == 0 && tools_choose("all", &e) == 0 && sealed_open("", &e) == 0);
	must(http_open(&e) == 0 && http_start(&e) == 0);
}

/* ---- the client ---- */

/* From another address each time, as the ports of one are soon used up; not disturbed by
 * libFuzzer's clock. */
static int
connect_there(void)
{
	static uint16_t count;
	sigset_t alarm;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_in from = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + count++);
	must(fd >= 0 && bind(fd, (struct sockaddr *)&from, sizeof from) == 0);
	to.sin_port = htons((uint16_t)atoi(strrchr(web_url(), ':') + 1));
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	must(sigprocmask(SIG_BLOCK, &alarm, NULL) == 0);
	must(connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
	must(sigprocmask(SIG_UNBLOCK, &alarm, NULL) == 0);
	return fd;
}

/* How much came in all; the first bytes say what it is. */
static size_t
hear(int fd, size_t before)
{
	char text[4096];
	ssize_t n;

	while ((n = recv(fd, text, sizeof text, MSG_DONTWAIT)) > 0) {
		if (before == 0)
			must(n >= 9 && memcmp(text, "HTTP/1.", 7) == 0);
		before += (size_t)n;
		must(before < MOST_BYTES);
		turn(1);
	}
	return before;
}

static void
talk(int fd, const uint8_t *data, size_t size, size_t step)
{
	size_t heard = 0;

	for (size_t at = 0, n; at < size; at += n) {
		n = size - at < step ? size - at : step;
		if (send(fd, data + at, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			break;
		turn(TURNS);
		if (!replies_slow())
			answer();
		heard = hear(fd, heard);
	}
	shutdown(fd, SHUT_WR);
	turn(TURNS);
	answer();
	hear(fd, heard);
}

/* Without another word. */
static void
leave(int fd)
{
	must(setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 },
		 sizeof(struct linger)) == 0);
	close(fd);
	turn(TURNS);
	answer();
	session_end_all();
	for (size_t i = 0; i < PATIENCE && web_counts.connections > 0; i++) {
		later_s += LATER_S;
		turn(TURNS);
	}
	must(web_counts.connections == 0 && web_counts.bodies == 0 && web_counts.waiting == 0);
	must(web_counts.kept == 0 && session_count() == 0 && replies_wanted() == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return -1;
	set_up();
	replies_choose(data[0]);

	int fd = connect_there();

	talk(fd, data + 2, size - 2, data[1] < 128 ? size : data[1]);
	leave(fd);
	return 0;
}
