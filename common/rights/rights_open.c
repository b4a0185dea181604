/* SPDX-License-Identifier: Apache-2.0 */
/* rights_open.c - the policies in force, from a file that the operator changes while the daemon
 * runs. */
#include "common/rights/rights.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/credential/directory.h"
#include "common/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_MS = 1000 };

static struct rights_book book;
static struct directory directory = { .fd = -1 };
static int64_t looked_ms;

static int
take(const struct blob *file, struct err *e)
{
	struct rights_book fresh = { 0 };

	if (file != NULL && rights_read(file, &fresh, e) < 0)
		return -1;
	if (file != NULL || book.count > 0)
		log_info("policies read", LOG_N("policies", fresh.count));
	rights_clear(&book);
	book = fresh;
	return 0;
}

static struct directory_file files[] = {
	{ .name = RIGHTS_FILE, .limit = RIGHTS_FILE_MAX, .open = true, .read = take }
};

static int
check_directory(int fd, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat");
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return err_set(e, ERR_denied,
		    "belongs to uid %u; must belong to root or to this user", (unsigned)st.st_uid);
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return err_set(e, ERR_denied, "mode %03o permits others to write; make it 755",
		    (unsigned)st.st_mode & 0777);
	directory = (struct directory){ fd, st.st_uid };
	return 0;
}

/* -1 without *e: there is none, and none can be made here. */
static int
open_directory(const char *given, const char *state, struct err *e)
{
	auto_free char *below = NULL;

	must(asprintf(&below, "%s/policies", state) >= 0);
	if (given[0] != '\0')
		return open(given, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fdio_directory(AT_FDCWD, below, geteuid() == 0 ? 0755 : 0700, e);
}

int
rights_open(const char *given, const char *state, struct err *e)
{
	auto_fd int fd = open_directory(given, state, e);

	if (fd < 0 && given[0] == '\0') {
		log_info("no policies: their directory cannot be made", LOG_E(e));
		return 0;
	}
	if (fd < 0)
		return err_sys(e, "policies: %s", given);
	if (check_directory(fd, e) < 0 || directory_look(&directory, files, COUNT(files), e) < 0)
		return err_add(e, "policies");
	daemon_allow(take_fd(&fd), JAIL_READ);
	looked_ms = loop_now_ms();
	return 0;
}

void
rights_close(void)
{
	rights_clear(&book);
	if (directory.fd >= 0)
		close(take_fd(&directory.fd));
}

const struct rights *
rights_of(const struct owner *owner)
{
	int64_t now_ms = loop_now_ms();
	struct err e;

	if (directory.fd >= 0 && now_ms - looked_ms >= LOOK_MS) {
		looked_ms = now_ms;
		if (directory_look(&directory, files, COUNT(files), &e) < 0)
			log_error("policies unchanged", LOG_E(&e));
	}
	return book.count > 0 ? rights_find(&book, owner) : NULL;
}
