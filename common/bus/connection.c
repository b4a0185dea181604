/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.c - a list by descriptor.
 *
 * The descriptors belong to libzmq, whose thread closes them. So one is only used if it is still
 * the same socket, identified by the kernel's socket cookie.
 */
#include "common/bus/connection.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/bus/recv.h"

#include <malloc.h>
#include <stdbool.h>
#include <sys/socket.h>

struct connection {
	struct connection *next;
	int fd;
	uint64_t cookie;
	int64_t heard_ms;
	bool known, ending;
};

static bool ended;

/* 0: not a socket, or closed. */
static uint64_t
cookie_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t size = sizeof cookie;

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

void
connection_add(struct connection **all, int fd, size_t most)
{
	struct connection *c = calloc(1, sizeof *c);

	recv_bound(fd, most);
	if (c == NULL)
		return;
	*c = (struct connection){
		.next = *all, .fd = fd, .cookie = cookie_of(fd), .heard_ms = loop_now_ms()
	};
	*all = c;
}

bool
connection_remove(struct connection **all, int fd)
{
	struct connection **at = all, *c;
	bool exceeded = recv_exceeded(fd);

	recv_bound(fd, 0);
	ended |= exceeded;
	while ((c = *at) != NULL && c->fd != fd)
		at = &c->next;
	if (c == NULL)
		return exceeded;
	*at = c->next;
	free(c);
	return exceeded;
}

void
connection_heard(struct connection *all, int fd, bool known)
{
	for (struct connection *c = all; c != NULL; c = c->next)
		if (c->fd == fd) {
			c->heard_ms = loop_now_ms();
			c->known |= known;
		}
}

static void
end(struct connection *c)
{
	c->ending = true;
	if (c->cookie != 0 && cookie_of(c->fd) == c->cookie)
		ended |= shutdown(c->fd, SHUT_RDWR) == 0;
}

void
connection_end_silent(struct connection *all, int64_t ms)
{
	for (struct connection *c = all; c != NULL; c = c->next)
		if (loop_now_ms() - c->heard_ms > ms)
			end(c);
}

void
connection_end(struct connection *all, int fd)
{
	for (struct connection *c = all; c != NULL; c = c->next)
		if (c->fd == fd)
			end(c);
}

void
connection_end_stranger(struct connection *all, size_t most)
{
	struct connection *oldest = NULL;
	size_t count = 0;

	for (struct connection *c = all; c != NULL; c = c->next)
		if (!c->known && !c->ending) {
			oldest = c; /* new connections are at the front */
			count++;
		}
	if (count > most)
		end(oldest);
}

void
connection_give_back(void)
{
	if (ended)
		malloc_trim(0);
	ended = false;
}

void
connection_clear(struct connection **all)
{
	while (*all != NULL)
		connection_remove(all, (*all)->fd);
}
