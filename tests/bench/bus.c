/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bus.c - the cost of a request between two processes on the bus, including envelope, body,
 * routing and both codecs.  Trusts the machine to be idle.
 *
 *   bench_bus [requests]
 */
#include "common/bus/bus.h"
#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	REQUESTS = 20000,
	MEGABYTE = 1 << 20,
};

static char directory[] = "/tmp/bench-bus-XXXXXX";

static struct {
	size_t in_flight, blob_bytes;
	size_t wanted, sent, done;
	int64_t *begun_us, *took_us;
} lap;

static int
on_put(struct call *call, void *request, struct err *e)
{
	struct nothing reply = { .ok = true };

	(void)request;
	(void)e;
	call_reply(call, &reply);
	return 0;
}

static const struct route routes[] = {
	{ MSG_snapshot_put, FROM(executor), on_put },
	{ MSG_none, 0, NULL },
};

static void
begin(enum peer self, const struct route *table)
{
	struct err e;
	const struct bus_config config = {
		.self = self, .run = directory, .connect_wait_ms = 5000, .routes = table
	};

	if (loop_open(&e) < 0 || bus_prepare(&config, &e) < 0 || bus_start(&e) < 0) {
		fprintf(stderr, "bench_bus: %s\n", e.text);
		exit(1);
	}
}

static pid_t
serve(void)
{
	struct err e;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	begin(PEER_snapshotd, routes);
	loop_run(&e);
	_exit(0);
}

static void ask_next(void);

static void
on_done(void *self, void *reply, const struct err *e)
{
	size_t i = (size_t)(uintptr_t)self;

	if (reply == NULL) {
		fprintf(stderr, "bench_bus: %s\n", e->text);
		exit(1);
	}
	lap.took_us[i] = loop_now_us() - lap.begun_us[i];
	if (++lap.done == lap.wanted)
		loop_stop();
	else
		ask_next();
}

static void
ask_next(void)
{
	static char digest[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	struct snapshot_put put = { .sha256 = digest };
	size_t i = lap.sent;
	struct err e;

	if (lap.sent == lap.wanted)
		return;
	put.content = blob_copy("", 0);
	if (lap.blob_bytes > 0) {
		blob_clear(&put.content);
		put.content = (struct blob){ malloc(lap.blob_bytes), lap.blob_bytes };
		memset(put.content.data, 'x', put.content.size);
	}
	struct ask ask = {
		.to = PEER_snapshotd,
		.message = MSG_snapshot_put,
		.request = &put,
		.owner = &(struct owner){ "local:0", "" },
		.timeout_ms = 10000,
		.self = (void *)(uintptr_t)i,
		.done = on_done,
	};
	lap.begun_us[i] = loop_now_us();
	lap.sent++;
	if (bus_ask(&ask, &e) == 0) {
		fprintf(stderr, "bench_bus: %s\n", e.text);
		exit(1);
	}
}

static int
by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void
measure(const char *what, size_t wanted, size_t in_flight, size_t blob_bytes)
{
	auto_free int64_t *begun = calloc(wanted, sizeof *begun);
	auto_free int64_t *took = calloc(wanted, sizeof *took);
	struct err e;

	must(begun != NULL && took != NULL);
	lap = (typeof(lap)){ in_flight, blob_bytes, wanted, 0, 0, begun, took };
	int64_t start = loop_now_us();
	for (size_t i = 0; i < in_flight; i++)
		ask_next();
	if (loop_run(&e) < 0)
		exit(1);
	int64_t all = loop_now_us() - start;
	qsort(took, wanted, sizeof *took, by_size);
	printf("%-28s p50 %6lld us  p99 %6lld us  %8.0f/s\n", what, (long long)took[wanted / 2],
	    (long long)took[wanted * 99 / 100], (double)wanted * 1e6 / (double)all);
}

int
main(int argc, char **argv)
{
	size_t requests = argc > 1 ? strtoul(argv[1], NULL, 10) : REQUESTS;

	if (requests == 0 || mkdtemp(directory) == NULL)
		return 1;
	mallopt(M_ARENA_MAX, 1); /* as daemon_main() does */
	log_open("bench", LOG_warn);
	pid_t server = serve();
	begin(PEER_executor, NULL);
	measure("warm-up", requests / 10 + 1, 1, 0);
	measure("1 in flight", requests, 1, 0);
	measure("16 in flight", requests, 16, 0);
	measure("1 in flight, 1 MiB blob", requests / 20 + 1, 1, MEGABYTE);
	measure("16 in flight, 1 MiB blob", requests / 20 + 1, 16, MEGABYTE);
	bus_stop();
	loop_close();
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return 0;
}
