/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recv.c - the recv() that libzmq calls, with a count for each descriptor.
 *
 * Trusts libzmq 4.3 to read as follows (tests/unit/test_bus_endless.c notices a difference).
 * It reads into a buffer of 8 KB, or directly into a part that is larger. Each part takes 64 bytes,
 * an empty one two bytes on the wire. A part of more than 33 bytes refers to the buffer it arrived
 * in, and keeps all of it. Descriptors without a bound, such as those of HTTP, are not counted.
 */
#include "common/bus/recv.h"

#include <stdatomic.h>
#include <sys/socket.h>

enum {
	MOST_DESCRIPTORS = 65536, /* the largest RLIMIT_NOFILE of peers.def */
	BATCH = 8192,
	BUFFER = 12 << 10, /* with its reference counts */
	PER_BYTE = 32,
	READS = 8, /* of a part by an honest peer on a slow network, into a buffer */
	PER_PART = READS * BUFFER + BATCH * PER_BYTE,
};

struct connection_count {
	atomic_size_t held, most; /* most 0: not counted */
	atomic_bool exceeded;
};

static struct connection_count counts[MOST_DESCRIPTORS];

static struct connection_count *
count_of(int fd)
{
	return fd >= 0 && fd < MOST_DESCRIPTORS ? &counts[fd] : NULL;
}

size_t
recv_cost(size_t queue, size_t bytes, size_t parts)
{
	return (queue + 1) * (bytes + parts * PER_PART);
}

void
recv_bound(int fd, size_t most)
{
	struct connection_count *c = count_of(fd);

	if (c == NULL)
		return;
	c->exceeded = false;
	c->held = 0;
	c->most = most;
}

void
recv_widen(int fd, size_t most)
{
	struct connection_count *c = count_of(fd);

	if (c != NULL && c->most != 0)
		c->most = most;
}

void
recv_heard(int fd)
{
	struct connection_count *c = count_of(fd);

	if (c != NULL)
		c->held = 0;
}

bool
recv_exceeded(int fd)
{
	const struct connection_count *c = count_of(fd);

	return c != NULL && c->exceeded;
}

ssize_t
recv(int fd, void *data, size_t size, int flags)
{
	ssize_t got = recvfrom(fd, data, size, flags, NULL, NULL);
	struct connection_count *c = count_of(fd);

	if (got <= 0 || c == NULL || c->most == 0)
		return got;
	size_t more = size > BATCH ? (size_t)got : BUFFER + PER_BYTE * (size_t)got;
	if (atomic_fetch_add(&c->held, more) + more <= c->most)
		return got;
	c->exceeded = true;
	return 0;
}
