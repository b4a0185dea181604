/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failed.c - writes and removes the files NAME.failed; trusts nothing in the run directory, so it
 * writes a new file each time.
 */
#include "compose/cloister/supervisor/failed.h"

#include "compose/cloister/place.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/bus/bus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* 0644: daemons have uids of their own. The file contains what the log contains, and no secret. */
static int
replace(int run, const char *file, const char *why)
{
	if (unlinkat(run, file, 0) < 0 && errno != ENOENT)
		return -1;

	auto_fd int fd =
	    openat(run, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd < 0 || fchmod(fd, 0644) < 0)
		return -1;
	return write(fd, why, strlen(why)) < 0 ? -1 : 0;
}

void
failed_tell(const char *name, const char *why)
{
	struct err e;
	auto_fd int run = place_open_run(&e);
	char file[64];

	snprintf(file, sizeof file, "%s" BUS_FAILED, name);
	if (run < 0 || replace(run, file, why) < 0)
		log_warn("cannot write the reason of a failure", LOG_S("file", file),
		    LOG_S("error", strerror(errno)));
}

void
failed_forget(const char *name)
{
	struct err e;
	auto_fd int run = place_open_run(&e);
	char file[64];

	snprintf(file, sizeof file, "%s" BUS_FAILED, name);
	if (run >= 0 && unlinkat(run, file, 0) < 0 && errno != ENOENT)
		log_warn("cannot remove the reason of a failure", LOG_S("file", file),
		    LOG_S("error", strerror(errno)));
}
