/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_file_frame.c - what a file helper may say that a hostile workspace took over.
 *
 * Input: the bytes of a packet.  One that is received has room for what it says it holds, and comes
 * out of a second trip unchanged.
 */
#include "common/base/err.h"
#include "executor/builder/files/file_frame.h"

#include <string.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_received(int *pair, const struct file_frame *p)
{
	char path[FILE_FRAME_MAX_PATH];
	static struct file_frame packed, again;

	file_frame_path(p, path);
	must(strlen(path) == p->head.path_size);
	packed.head = p->head;
	must(file_frame_pack(&packed, path, p->rest + p->head.path_size, p->head.tail_size));
	must(file_frame_send(pair[0], &packed) == 1 && file_frame_receive(pair[1], &again) == 1);
	must(memcmp(&again.head, &p->head, sizeof p->head) == 0);
	must(memcmp(again.rest, p->rest, p->head.path_size + p->head.tail_size) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int pair[2] = { -1, -1 };
	static struct file_frame p;

	if (pair[0] < 0)
		must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	if (size == 0) /* the end of the channel */
		return -1;
	memset(&p, 0xa5, sizeof p);
	must(send(pair[0], data, size, 0) == (ssize_t)size);
	if (file_frame_receive(pair[1], &p) == 1)
		check_received(pair, &p);
	return 0;
}
