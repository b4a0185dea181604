/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - sends the same request to an MCP server repeatedly, and prints the latency of the
 * replies.
 *
 * 	bench_load stdio DEPTH SECONDS PIDS REQUEST COMMAND [ARGUMENT ...]
 * 	bench_load http CONNECTIONS SECONDS PIDS REQUEST PORT HEADERS
 *
 * REQUEST is a message with ten zeroes, 0000000000, in place of its id; HEADERS are lines that end
 * with "\r\n".  Over stdio DEPTH requests are open at once; over HTTP one on each connection,
 * which stays open.  New requests for replies that arrived together are written together.  The
 * first tenth of the time is not counted.  Processor time is that of the PIDS, separated by
 * commas, and of the command.  Prints one JSON object.
 *
 * It is written in C because a client in a scripting language would dominate the measurement.  It
 * trusts the server to reply in order on a connection; a reply without a result ends it.
 */
#include "common/base/auto.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ZEROES "0000000000"

enum {
	MAX_LANES = 1024,
	ID_DIGITS = sizeof ZEROES - 1,
	ROOM = 1 << 20,
};

/* One request at a time; over stdio all lanes share their descriptors and their input. */
struct lane {
	int in, out;
	uint64_t id;
	int64_t sent_ns;
	char *data;
	size_t size;
};

static struct {
	bool http;
	size_t lanes, calls, room;
	char *request;
	size_t size, id_at;
	char *out; /* requests of all lanes, over stdio */
	size_t waiting;
	uint32_t *took; /* tenths of a microsecond */
	uint64_t next_id;
	int64_t begin_ns, end_ns, cpu_ns; /* of the counted period */
	const char *pids;
	pid_t server; /* over stdio */
	struct lane lane[MAX_LANES];
} load;

static void
die(const char *what)
{
	fprintf(stderr, "bench_load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* ---- requests ---- */

static void
make_request(const char *message, const char *headers)
{
	size_t size = strlen(message);
	int n =
	    load.http
		? asprintf(&load.request,
		      "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
		      "Accept: application/json, text/event-stream\r\n%sContent-Length: "
		      "%zu\r\n\r\n%s",
		      headers, size, message)
		: asprintf(&load.request, "%s\n", message);
	char *at = n < 0 ? NULL : strstr(load.request, ZEROES);

	if (at == NULL) {
		errno = EINVAL;
		die("the request has no id of ten zeroes");
	}
	load.size = (size_t)n;
	load.id_at = (size_t)(at - load.request);
}

static void
write_all(int fd, const char *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, data + done, size - done);

		if (n < 0)
			die("write");
		done += (size_t)n;
	}
}

static void
write_waiting(void)
{
	write_all(load.lane[0].out, load.out, load.waiting);
	load.waiting = 0;
}

static void
send_request(struct lane *lane)
{
	char digits[ID_DIGITS + 1];

	/* The id must not begin with a zero, or it would not be a number. */
	lane->id = 1000000000 + load.next_id++;
	snprintf(digits, sizeof digits, "%010llu", (unsigned long long)lane->id);
	memcpy(load.request + load.id_at, digits, ID_DIGITS);
	lane->sent_ns = now_ns();
	if (load.http) {
		write_all(lane->out, load.request, load.size);
		return;
	}
	memcpy(load.out + load.waiting, load.request, load.size);
	load.waiting += load.size;
}

/* ---- processor time, to the nanosecond, of all threads ---- */

static int64_t
read_thread(DIR *tasks, const struct dirent *task)
{
	char path[sizeof task->d_name + 16];
	unsigned long long ns = 0;

	snprintf(path, sizeof path, "%s/schedstat", task->d_name);

	int fd = openat(dirfd(tasks), path, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (f == NULL)
		return 0;
	if (fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	fclose(f);
	return (int64_t)ns;
}

static int64_t
read_process(long pid)
{
	char directory[64];
	int64_t ns = 0;

	snprintf(directory, sizeof directory, "/proc/%ld/task", pid);

	DIR *d = opendir(directory);
	struct dirent *entry;

	while (d != NULL && (entry = readdir(d)) != NULL)
		if (entry->d_name[0] != '.')
			ns += read_thread(d, entry);
	if (d != NULL)
		closedir(d);
	return ns;
}

static int64_t
read_cpu(void)
{
	int64_t ns = load.server > 0 ? read_process(load.server) : 0;
	char *end;

	for (const char *at = load.pids; *at != '\0'; at = *end == ',' ? end + 1 : end)
		ns += read_process(strtol(at, &end, 10));
	return ns;
}

/* ---- replies ---- */

static void
keep_time(int64_t sent_ns)
{
	int64_t now = now_ns();

	if (now < load.begin_ns)
		return;
	if (load.cpu_ns == 0) {
		load.begin_ns = now;
		load.cpu_ns = read_cpu();
	}
	if (load.calls == load.room) {
		load.room = load.room * 2 + 65536;
		load.took = realloc(load.took, load.room * sizeof *load.took);
		if (load.took == NULL)
			die("realloc");
	}
	load.took[load.calls++] = (uint32_t)((now - sent_ns) / 100);
}

static void
count_answer(struct lane *lane, const char *answer, size_t size)
{
	if (memmem(answer, size, "\"result\"", 8) == NULL) {
		fprintf(stderr, "bench_load: no result: %.*s\n", (int)(size < 2000 ? size : 2000),
		    answer);
		exit(1);
	}
	keep_time(lane->sent_ns);
	if (now_ns() < load.end_ns)
		send_request(lane);
	else
		lane->id = 0;
}

static void
take_line(const char *line, size_t size)
{
	const char *at = memmem(line, size, "\"id\":1", 6);
	uint64_t id = at == NULL ? 0 : strtoull(at + 5, NULL, 10);

	for (struct lane *lane = load.lane; id != 0 && lane < load.lane + load.lanes; lane++)
		if (lane->id == id) {
			count_answer(lane, line, size);
			return;
		}
}

/* Over stdio the first lane has the input of all lanes. */
static void
take_lines(struct lane *first)
{
	char *at = first->data, *end = first->data + first->size, *stop;

	while ((stop = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		take_line(at, (size_t)(stop - at));
		at = stop + 1;
	}
	first->size = (size_t)(end - at);
	memmove(first->data, at, first->size);
	write_waiting();
}

/* Only one reply at a time is in transit, so it ends where its Content-Length says. */
static void
take_http(struct lane *lane)
{
	char *body, *length;

	lane->data[lane->size] = '\0';
	body = strstr(lane->data, "\r\n\r\n");
	if (body == NULL)
		return;
	body += 4;

	size_t have = lane->size - (size_t)(body - lane->data);

	length = strcasestr(lane->data, "\r\ncontent-length:");
	if (length != NULL && length < body
		? have < strtoull(length + 17, NULL, 10)
		: have < 5 || memcmp(lane->data + lane->size - 5, "0\r\n\r\n", 5) != 0)
		return;
	lane->size = 0;
	count_answer(lane, body, have);
}

static void
receive(struct lane *lane)
{
	ssize_t n = read(lane->in, lane->data + lane->size, ROOM - 1 - lane->size);

	if (n <= 0)
		die("the server has gone, or an answer is too long");
	lane->size += (size_t)n;
	if (load.http)
		take_http(lane);
	else
		take_lines(lane);
}

/* ---- the server ---- */

static pid_t
start(char **command)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		die("pipe");

	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execvp(command[0], command);
		die(command[0]);
	}
	close(to[0]);
	close(from[1]);
	for (size_t i = 0; i < load.lanes; i++)
		load.lane[i] = (struct lane){ .in = from[0], .out = to[1] };
	return pid;
}

static void
connect_all(uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int on = 1;

	for (size_t i = 0; i < load.lanes; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
			die("connect");
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		load.lane[i] = (struct lane){ .in = fd, .out = fd };
	}
}

static void
wait_for_http(void)
{
	struct pollfd polls[MAX_LANES];

	for (size_t i = 0; i < load.lanes; i++)
		polls[i] = (struct pollfd){ .fd = load.lane[i].in, .events = POLLIN };
	if (poll(polls, load.lanes, 30000) <= 0)
		die("no answer within 30 s");
	for (size_t i = 0; i < load.lanes; i++)
		if (polls[i].revents != 0)
			receive(&load.lane[i]);
}

static size_t
count_open(void)
{
	size_t open = 0;

	for (size_t i = 0; i < load.lanes; i++)
		open += load.lane[i].id != 0;
	return open;
}

static void
run(int64_t seconds)
{
	load.begin_ns = now_ns() + seconds * 100000000LL;
	load.end_ns = now_ns() + seconds * 1000000000LL;
	load.out = malloc(load.lanes * load.size);
	for (size_t i = 0; i < (load.http ? load.lanes : 1); i++)
		if (load.out == NULL || (load.lane[i].data = malloc(ROOM)) == NULL)
			die("malloc");
	for (size_t i = 0; i < load.lanes; i++)
		send_request(&load.lane[i]);
	write_waiting();
	alarm((unsigned)seconds + 30); /* ends the program if the server does not reply */
	while (count_open() > 0)
		if (load.http)
			wait_for_http();
		else
			receive(&load.lane[0]);
}

/* ---- output ---- */

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static double
quantile_ms(double q)
{
	size_t at = (size_t)(q * (double)load.calls);

	return load.took[at < load.calls ? at : load.calls - 1] / 10000.0;
}

static void
report(void)
{
	double seconds = (double)(now_ns() - load.begin_ns) / 1e9, calls = (double)load.calls;
	double cpu_us = (double)(read_cpu() - load.cpu_ns) / 1000 / calls;

	qsort(load.took, load.calls, sizeof *load.took, compare);
	printf("{\"calls\": %zu, \"rate\": %.0f, \"p50_ms\": %.4f, \"p99_ms\": %.4f, \"max_ms\": "
	       "%.4f, \"cpu_us\": %.2f}\n",
	    load.calls, calls / seconds, quantile_ms(0.5), quantile_ms(0.99), quantile_ms(1),
	    cpu_us);
}

int
main(int argc, char **argv)
{
	if (argc < 7 || (load.lanes = strtoul(argv[2], NULL, 10)) < 1 || load.lanes > MAX_LANES) {
		fprintf(stderr, "usage: see the head of load.c\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	load.http = strcmp(argv[1], "http") == 0;
	load.pids = argv[4];
	make_request(argv[5], load.http && argc > 7 ? argv[7] : "");
	if (load.http)
		connect_all((uint16_t)strtoul(argv[6], NULL, 10));
	else
		load.server = start(argv + 6);
	run(strtol(argv[3], NULL, 10));
	if (load.calls == 0)
		die("nothing was answered in time");
	report();
	if (load.server > 0) {
		close(load.lane[0].out);
		waitpid(load.server, NULL, 0);
	}
	return 0;
}
