/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.c - the address of HTTP: free, or ours.
 *
 * Binds it for a moment, as the gateway will. Trusts nobody who has it; a gateway answers /healthz
 * with "ok".
 */
#include "compose/cloister/doctor/checks.h"

#include "common/base/auto.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

/* Returns its size; 0: it is not an address and a port. */
static socklen_t
parse(const char *listen, union address *to)
{
	const char *colon = strrchr(listen, ':');
	bool six = *listen == '[';
	char host[64];

	memset(to, 0, sizeof *to);
	if (colon == NULL || colon - listen >= (int)sizeof host || colon - listen < 2)
		return 0;
	snprintf(host, sizeof host, "%.*s", (int)(colon - listen) - 2 * six, listen + six);

	in_port_t port = htons((uint16_t)strtoul(colon + 1, NULL, 10));

	to->any.sa_family = six ? AF_INET6 : AF_INET;
	if (six)
		to->six.sin6_port = port;
	else
		to->four.sin_port = port;
	if (inet_pton(to->any.sa_family, host,
		six ? (void *)&to->six.sin6_addr : (void *)&to->four.sin_addr) != 1)
		return 0;
	return six ? sizeof to->six : sizeof to->four;
}

/* 0, or errno. */
static int
try_bind(const union address *to, socklen_t size)
{
	auto_fd int fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) < 0 ||
	    bind(fd, &to->any, size) < 0)
		return errno;
	return 0;
}

static bool
is_ours(const union address *to, socklen_t size)
{
	static const char question[] =
	    "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	const struct timeval wait = { .tv_sec = 2 };
	auto_fd int fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char reply[2048] = "";
	size_t have = 0;
	ssize_t n = 1;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
	if (fd < 0 || connect(fd, &to->any, size) < 0 ||
	    send(fd, question, sizeof question - 1, MSG_NOSIGNAL) < 0)
		return false;
	while (n > 0 && have < sizeof reply - 1) {
		n = recv(fd, reply + have, sizeof reply - 1 - have, 0);
		have += n > 0 ? (size_t)n : 0;
	}
	return strncmp(reply, "HTTP/1.1 200", 12) == 0 && strstr(reply, "\r\n\r\nok") != NULL;
}

void
port_check(const struct machine *m, struct diagnosis *f)
{
	union address to;
	socklen_t size = m->listen == NULL ? 0 : parse(m->listen, &to);
	int why = size == 0 ? 0 : try_bind(&to, size);

	if (m->listen == NULL)
		diagnosis_set(f, DIAGNOSIS_unchecked, "the gateway refuses its settings");
	else if (size == 0)
		diagnosis_set(
		    f, DIAGNOSIS_weaker, "%.100s is not an address and a port", m->listen);
	else if (why == 0)
		diagnosis_set(f, DIAGNOSIS_ok, "%s is free", m->listen);
	else if (why == EADDRINUSE && is_ours(&to, size))
		diagnosis_set(f, DIAGNOSIS_ok, "%s is served by cloister", m->listen);
	else if (why == EADDRINUSE)
		diagnosis_set(f, DIAGNOSIS_weaker, "another program has %s, or a gateway with TLS",
		    m->listen);
	else
		diagnosis_set(f, DIAGNOSIS_weaker, "%s: %s", m->listen, strerror(why));
}
