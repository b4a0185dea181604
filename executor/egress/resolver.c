/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolver.c - one question at a time for each name: A, then AAAA if there is none.
 *
 * Trusts the DNS server only for addresses, which address.c checks.  Each question has a socket of
 * its own, so its source port is the kernel's choice, and a random id.
 */
#include "executor/egress/resolver.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/egress/dns.h"
#include "executor/egress/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>

enum {
	TRIES = 2, /* for each type */
	HOSTS = 256,
	LINE = 512,
	PORT = 53,
};

struct host {
	char name[DOMAIN_NAME];
	union address address;
};

static struct {
	union address server;
	struct host hosts[HOSTS];
	size_t nhosts;
} resolver;

struct resolution {
	struct dns_question question;
	int sock;
	unsigned tries;
	uint64_t timer;
	union address found[RESOLVER_ADDRESSES];
	size_t nfound;
	void (*done)(void *self, const union address *, size_t n);
	void *self;
};

/* ---- files ---- */

static void
read_host(char *line)
{
	char *rest = line, *word = strsep(&rest, " \t\n");
	union address address;

	if (word == NULL || address_read(word, PORT, &address) < 0)
		return;
	while ((word = strsep(&rest, " \t\n")) != NULL && *word != '#') {
		struct host *host = &resolver.hosts[resolver.nhosts];

		if (strlen(word) >= DOMAIN_NAME || resolver.nhosts == HOSTS ||
		    !domain_is_name(word))
			continue;
		memcpy(host->name, word, strlen(word) + 1);
		host->address = address;
		resolver.nhosts++;
	}
}

static void
read_server(char *line)
{
	char *rest = line, *word = strsep(&rest, " \t\n");

	if (resolver.server.any.sa_family != 0 || strcmp(word, "nameserver") != 0)
		return;
	while ((word = strsep(&rest, " \t\n")) != NULL && *word == '\0')
		;
	/* What follows the address is a comment. */
	if (word != NULL && address_read(word, PORT, &resolver.server) < 0)
		resolver.server = (union address){ 0 };
}

static void
each_line(const char *path, void (*take)(char *line))
{
	FILE *file = fopen(path, "re");
	char line[LINE];

	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		take(line);
	if (file != NULL)
		fclose(file);
}

int
resolver_open(const char *setting, struct err *e)
{
	if (setting[0] != '\0' && address_read(setting, PORT, &resolver.server) < 0)
		return err_set(e, ERR_invalid_argument, "resolver: %.64s is no address", setting);
	each_line("/etc/hosts", read_host);
	each_line("/etc/resolv.conf", read_server);
	return 0;
}

/* ---- questions ---- */

void
resolver_cancel(struct resolution *r)
{
	if (r == NULL)
		return;
	loop_unset(r->timer);
	if (r->sock >= 0) {
		loop_forget(r->sock);
		close(r->sock);
	}
	free(r);
}

static void
finish(void *self)
{
	struct resolution *r = self;
	union address found[RESOLVER_ADDRESSES];
	size_t n = r->nfound;
	void (*done)(void *, const union address *, size_t) = r->done;
	void *whose = r->self;

	memcpy(found, r->found, sizeof found);
	resolver_cancel(r);
	done(whose, found, n);
}

static void
ask(void *self)
{
	struct resolution *r = self;
	unsigned char message[DNS_BYTES];

	r->timer = 0;
	if (r->tries++ == TRIES) {
		if (r->question.type == DNS_AAAA) {
			finish(r);
			return;
		}
		r->tries = 1;
		r->question.type = DNS_AAAA;
	}
	if (getrandom(&r->question.id, sizeof r->question.id, 0) != sizeof r->question.id) {
		finish(r);
		return;
	}
	r->question.size = dns_ask(message, r->question.id, r->question.type, r->question.name);
	/* A message that is lost is sent again. */
	if (send(r->sock, message, r->question.size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		errno = 0;
	r->timer = loop_after((int64_t)options.connect_ms / (2 * TRIES), ask, r);
}

static void
on_reply(void *self, uint32_t events)
{
	struct resolution *r = self;
	unsigned char message[DNS_BYTES];
	ssize_t size = recv(r->sock, message, sizeof message, MSG_DONTWAIT);
	int n = size < DNS_HEAD ? -1
	                        : dns_read_answer(message, (size_t)size, &r->question, r->found,
				      COUNT(r->found));

	(void)events;
	if (n < 0)
		return;
	r->nfound = (size_t)n;
	loop_unset(r->timer);
	if (n > 0 || r->question.type == DNS_AAAA) {
		finish(r);
		return;
	}
	r->tries = TRIES;
	ask(r);
}

static void
take_hosts(struct resolution *r)
{
	for (size_t i = 0; i < resolver.nhosts && r->nfound < COUNT(r->found); i++)
		if (strcmp(resolver.hosts[i].name, r->question.name) == 0)
			r->found[r->nfound++] = resolver.hosts[i].address;
}

static int
begin(struct resolution *r)
{
	struct err e;

	take_hosts(r);
	if (r->nfound > 0 || resolver.server.any.sa_family == 0) {
		r->timer = loop_after(0, finish, r);
		return 0;
	}
	r->sock =
	    socket(resolver.server.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (r->sock < 0 ||
	    connect(r->sock, &resolver.server.any, address_size(&resolver.server)) < 0 ||
	    loop_watch(r->sock, EPOLLIN, on_reply, r, &e) < 0) {
		if (r->sock >= 0)
			close(take_fd(&r->sock));
		return -1;
	}
	ask(r);
	return 0;
}

struct resolution *
resolver_ask(
    const char *name, void (*done)(void *self, const union address *, size_t n), void *self)
{
	struct resolution *r = calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	*r = (struct resolution){ .sock = -1, .done = done, .self = self };
	snprintf(r->question.name, sizeof r->question.name, "%s", name);
	r->question.type = DNS_A;
	if (begin(r) < 0) {
		free(r);
		return NULL;
	}
	return r;
}
