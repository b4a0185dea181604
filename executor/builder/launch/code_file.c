/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_file.c - replaces the driver of languages that have none: writes the code to a file for the
 * interpreter.
 *
 * It runs with all layers of the program in force, and trusts only the size in the executor's
 * frame.
 */
#include "executor/builder/launch/code_file.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "executor/guest/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

enum {
	PART = 65536,
};

static int
copy(int to, size_t size, struct err *e)
{
	char part[PART];

	for (size_t n; size > 0; size -= n) {
		n = size < sizeof part ? size : sizeof part;
		if (fdio_read(GUEST_CONTROL_FD, part, n, e) < 0 || fdio_write(to, part, n, e) < 0)
			return -1;
	}
	return 0;
}

const char *
code_file_await(const char *extension)
{
	static const uint8_t idle[GUEST_HEAD] = { GUEST_IDLE };
	static char path[64];
	uint8_t head[GUEST_HEAD];
	struct err e;

	snprintf(path, sizeof path, "/tmp/code%s", extension);
	errno = EPROTO;
	if (fdio_write(GUEST_CONTROL_FD, idle, sizeof idle, &e) < 0 ||
	    fdio_read(GUEST_CONTROL_FD, head, sizeof head, &e) < 0 || head[0] != GUEST_CODE)
		return NULL;

	size_t size =
	    (size_t)head[1] | (size_t)head[2] << 8 | (size_t)head[3] << 16 | (size_t)head[4] << 24;
	auto_fd int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (file < 0 || copy(file, size, &e) < 0)
		return NULL;
	close(GUEST_CONTROL_FD);
	return path;
}
