/* SPDX-License-Identifier: Apache-2.0 */
/* control.c - frames to a program: unread data is queued here, up to a bound. */
#include "executor/sandbox/control.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
	OUTGOING_BYTES = 32 << 20, /* that a program has not read yet */
};

static void
clear(struct control *c)
{
	if (c->secret && c->outgoing.data != NULL)
		sodium_memzero(c->outgoing.data, c->outgoing.size);
	blob_clear(&c->outgoing);
	c->secret = false;
	c->sent = 0;
}

int
control_open(struct control *c, int *far, void (*ready)(void *self, uint32_t events), void *self,
    struct err *e)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "socketpair");
	c->fd = pair[0];
	*far = pair[1];
	if (fcntl(c->fd, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(e, "fcntl");
	return loop_watch(c->fd, EPOLLIN, ready, self, e);
}

void
control_close(struct control *c)
{
	clear(c);
	if (c->fd < 0)
		return;
	loop_forget(c->fd);
	close(take_fd(&c->fd));
}

static void
want_room(struct control *c, bool full)
{
	struct err ignored;

	if (c->full != full && c->fd >= 0)
		loop_change(c->fd, EPOLLIN | (full ? EPOLLOUT : 0u), &ignored);
	c->full = full;
}

void
control_send(struct control *c)
{
	while (c->fd >= 0 && c->sent < c->outgoing.size) {
		ssize_t n = send(c->fd, (uint8_t *)c->outgoing.data + c->sent,
		    c->outgoing.size - c->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN) {
			want_room(c, true);
			return;
		}
		if (n < 0)
			break;
		c->sent += (size_t)n;
	}
	clear(c);
	want_room(c, false);
}

/* realloc(3) would leave a copy of secrets behind. */
static uint8_t *
grow(struct control *c, size_t size)
{
	uint8_t *grown;

	if (!c->secret)
		return realloc(c->outgoing.data, size);
	grown = malloc(size);
	if (grown == NULL || c->outgoing.data == NULL)
		return grown;
	memcpy(grown, c->outgoing.data, c->outgoing.size);
	sodium_memzero(c->outgoing.data, c->outgoing.size);
	free(c->outgoing.data);
	return grown;
}

uint8_t *
control_add(struct control *c, enum guest_frame kind, size_t size, struct err *e)
{
	size_t have = c->outgoing.size;
	uint8_t *grown = NULL;

	if (have + size <= OUTGOING_BYTES)
		grown = grow(c, have + 5 + size);
	if (grown == NULL) {
		err_set(e, ERR_limit_exceeded, "the interpreter does not read its input");
		return NULL;
	}
	c->outgoing = (struct blob){ grown, have + 5 + size };
	grown[have] = kind;
	for (int i = 0; i < 4; i++)
		grown[have + 1 + (size_t)i] = (uint8_t)(size >> 8 * i);
	return grown + have + 5;
}

int
control_add_secrets(struct control *c, const struct vault_values *secrets, struct err *e)
{
	size_t count = secrets != NULL ? secrets->values.count : 0;

	c->secret = c->secret || count > 0;
	for (size_t i = 0; i < count; i++) {
		const struct secret_value *s = &secrets->values.items[i];
		size_t length = strlen(s->name);
		uint8_t *to = control_add(c, GUEST_SECRET, length + 1 + s->value.size, e);

		if (to == NULL)
			return -1;
		to = mempcpy(to, s->name, length);
		*to = '\n';
		memcpy(to + 1, s->value.data, s->value.size);
	}
	return 0;
}
