/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logfile.c - one log file for the supervisor and its daemons, and one older copy.
 *
 * All of them write with O_APPEND to one open file. So the file is copied and truncated, not
 * renamed, and no process has to open it again. A line written in between may be lost.
 */
#include "compose/cloister/supervisor/logfile.h"

#include "compose/cloister/place.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

enum {
	LOOK_MS = 30000,
	MAX_BYTES = 16 << 20,
};

#define NAME "supervisor.log"

int
logfile_append(int state, struct err *e)
{
	int fd = openat(state, NAME, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? err_sys(e, "open " NAME) : fd;
}

int
logfile_read(int state, struct err *e)
{
	int fd = openat(state, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 && errno == ENOENT)
		return err_set(e, ERR_not_found, "there is no log: no daemons have been started");
	return fd < 0 ? err_sys(e, "open " NAME) : fd;
}

static void
turn(off_t size)
{
	struct err e;
	auto_fd int state = place_open_state(&e);
	auto_fd int old = state < 0
	                      ? -1
	                      : openat(state, NAME ".1",
				    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	off_t from = 0;

	while (old >= 0 && from < size &&
	       sendfile(old, STDERR_FILENO, &from, (size_t)(size - from)) > 0) {
	}
	if (ftruncate(STDERR_FILENO, 0) < 0)
		return;
}

static void
look(void *self)
{
	struct stat st;

	(void)self;
	if (fstat(STDERR_FILENO, &st) == 0 && st.st_size > MAX_BYTES)
		turn(st.st_size);
	loop_after(LOOK_MS, look, NULL);
}

/* If the caller supplied another file as stderr, its size is the caller's responsibility. */
static bool
is_ours(void)
{
	struct stat given, ours;
	struct err e;
	auto_fd int state = place_open_state(&e);

	return state >= 0 && fstat(STDERR_FILENO, &given) == 0 &&
	       fstatat(state, NAME, &ours, AT_SYMLINK_NOFOLLOW) == 0 &&
	       given.st_dev == ours.st_dev && given.st_ino == ours.st_ino;
}

void
logfile_watch(void)
{
	if (is_ours())
		loop_after(LOOK_MS, look, NULL);
}
