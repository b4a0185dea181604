/* SPDX-License-Identifier: Apache-2.0 */
/* slip.c - sends and receives file frames; trusts no number in a received one. */
#include "executor/builder/files/slip.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

bool
slip_pack(struct slip *p, const char *path, const void *tail, size_t size)
{
	size_t length = path == NULL ? 0 : strlen(path);

	if (length >= SLIP_MAX_PATH || size > SLIP_MAX_REST - length)
		return false;
	p->head.path_size = (uint32_t)length;
	p->head.tail_size = (uint32_t)size;
	if (length > 0)
		memcpy(p->rest, path, length);
	if (size > 0 && tail != slip_tail(p))
		memcpy(slip_tail(p), tail, size);
	return true;
}

uint8_t *
slip_tail(struct slip *p)
{
	return p->rest + p->head.path_size;
}

void
slip_path(const struct slip *p, char path[SLIP_MAX_PATH])
{
	memcpy(path, p->rest, p->head.path_size);
	path[p->head.path_size] = 0;
}

int
slip_send(int fd, const struct slip *p)
{
	size_t size = sizeof p->head + p->head.path_size + p->head.tail_size;
	ssize_t n;

	do
		n = send(fd, p, size, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 1;
}

static bool
is_sound(const struct slip *p, size_t size)
{
	const struct slip_head *h = &p->head;

	return size >= sizeof *h && h->path_size < SLIP_MAX_PATH && h->tail_size <= SLIP_MAX_REST &&
	       size == sizeof *h + h->path_size + h->tail_size && h->kind < SLIP_KINDS &&
	       h->type < SLIP_TYPES && h->fault < SLIP_FAULTS && h->overwrite <= 1 &&
	       h->hashed <= 1 && h->truncated <= 1 && h->mode <= 0777 &&
	       memchr(p->rest, 0, h->path_size) == NULL;
}

int
slip_receive(int fd, struct slip *p)
{
	ssize_t n;

	do
		n = recv(fd, p, sizeof *p, MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return (int)n;
	if ((size_t)n > sizeof *p || !is_sound(p, (size_t)n)) {
		errno = EBADMSG;
		return -1;
	}
	return 1;
}
