/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echo.c - replies to bench_load at once without parsing the request. It measures the cost of the
 * machine, its kernel and that client, and so the maximum that any server can reach.
 *
 * 	bench_echo stdio
 * 	bench_echo http      prints its port
 *
 * It trusts its client: a request is a line with "id":N, or arrives in one read of its connection.
 */
#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	IN_BYTES = 1 << 17,
	ANSWER_BYTES = 64, /* maximum; no request is shorter */
};

static char in[IN_BYTES], out[IN_BYTES];

static void
die(const char *what)
{
	fprintf(stderr, "bench_echo: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int
answer(char *to, const char *request, size_t size)
{
	const char *id = memmem(request, size, "\"id\":", 5);

	return snprintf(to, ANSWER_BYTES, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":{}}",
	    id == NULL ? 0 : strtoull(id + 5, NULL, 10));
}

static void
write_all(int fd, const char *data, size_t size)
{
	struct err e;

	if (fdio_write(fd, data, size, &e) < 0)
		die("write");
}

/* ---- stdio ---- */

/* Answers all whole lines of in[0, used); moves an incomplete line to the front. */
static size_t
answer_lines(size_t used)
{
	char *at = in, *end = in + used, *stop;
	size_t filled = 0;

	while ((stop = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		filled += (size_t)answer(out + filled, at, (size_t)(stop - at));
		out[filled++] = '\n';
		at = stop + 1;
	}
	write_all(STDOUT_FILENO, out, filled);
	memmove(in, at, (size_t)(end - at));
	return (size_t)(end - at);
}

static void
serve_stdio(void)
{
	size_t used = 0;

	for (ssize_t n; (n = read(STDIN_FILENO, in + used, sizeof in - used)) > 0;)
		used = answer_lines(used + (size_t)n);
}

/* ---- HTTP ---- */

static int
listen_anywhere(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) < 0 || listen(fd, SOMAXCONN) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &size) < 0)
		die("listen");
	printf("%u\n", ntohs(at.sin_port));
	fflush(stdout);
	return fd;
}

static void
watch(int events, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(events, EPOLL_CTL_ADD, fd, &event) < 0)
		die("epoll_ctl");
}

static void
take(int events, int listener)
{
	int on = 1, fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		die("accept");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	watch(events, fd);
}

static void
answer_http(int fd)
{
	ssize_t n = read(fd, in, sizeof in);
	char body[ANSWER_BYTES];

	if (n <= 0) {
		close(fd);
		return;
	}

	int size = answer(body, in, (size_t)n);
	int all = snprintf(out, sizeof out,
	    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
	    size, body);

	write_all(fd, out, (size_t)all);
}

static void
serve_http(void)
{
	int listener = listen_anywhere(), events = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ready[64];

	if (events < 0)
		die("epoll_create1");
	watch(events, listener);
	for (int n; (n = epoll_wait(events, ready, COUNT(ready), -1)) >= 0;)
		for (int i = 0; i < n; i++)
			if (ready[i].data.fd == listener)
				take(events, listener);
			else
				answer_http(ready[i].data.fd);
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "stdio") == 0)
		serve_stdio();
	else if (argc == 2 && strcmp(argv[1], "http") == 0)
		serve_http();
	else
		return 2;
	return 0;
}
