/* SPDX-License-Identifier: Apache-2.0 */
/* file_frame.c - sends and receives file frames.  Trusts no number in a received one. */
#include "executor/builder/files/file_frame.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

bool
file_frame_pack(struct file_frame *p, const char *path, const void *tail, size_t size)
{
	size_t length = path == NULL ? 0 : strlen(path);

	if (length >= FILE_FRAME_MAX_PATH || size > FILE_FRAME_MAX_REST - length)
		return false;
	p->head.path_size = (uint32_t)length;
	p->head.tail_size = (uint32_t)size;
	if (length > 0)
		memcpy(p->rest, path, length);
	if (size > 0 && tail != file_frame_tail(p))
		memcpy(file_frame_tail(p), tail, size);
	return true;
}

uint8_t *
file_frame_tail(struct file_frame *p)
{
	return p->rest + p->head.path_size;
}

void
file_frame_path(const struct file_frame *p, char path[FILE_FRAME_MAX_PATH])
{
	memcpy(path, p->rest, p->head.path_size);
	path[p->head.path_size] = 0;
}

int
file_frame_send(int fd, const struct file_frame *p)
{
	size_t size = sizeof p->head + p->head.path_size + p->head.tail_size;
	ssize_t n;

	do
		n = send(fd, p, size, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 1;
}

static bool
is_sound(const struct file_frame *p, size_t size)
{
	const struct file_frame_head *h = &p->head;

	return size >= sizeof *h && h->path_size < FILE_FRAME_MAX_PATH &&
	       h->tail_size <= FILE_FRAME_MAX_REST &&
	       size == sizeof *h + h->path_size + h->tail_size && h->kind < FILE_FRAME_KINDS &&
	       h->type < FILE_FRAME_TYPES && h->fault < FILE_FRAME_FAULTS && h->overwrite <= 1 &&
	       h->hashed <= 1 && h->truncated <= 1 && h->attributed <= 1 && h->mode <= 0777 &&
	       memchr(p->rest, 0, h->path_size) == NULL;
}

int
file_frame_receive(int fd, struct file_frame *p)
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
