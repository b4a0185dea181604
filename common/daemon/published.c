/* SPDX-License-Identifier: Apache-2.0 */
/* published.c - a file of mode 0600, so only this user and root read it. */
#include "common/daemon/published.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/table/settings.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static char *text;

void
published_note(void)
{
	free(text);
	text = settings_text();
}

static int
write_text(int directory, const char *file, struct err *e)
{
	auto_fd int fd =
	    openat(directory, file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(e, "make %s", file);
	return fdio_write(fd, PUBLISHED_VERSION, strlen(PUBLISHED_VERSION), e) < 0
	           ? -1
	           : fdio_write(fd, text, strlen(text), e);
}

void
published_write(const char *run, const char *name)
{
	auto_fd int directory = open(run, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char file[64];
	struct err e = { 0 };

	snprintf(file, sizeof file, "%s.settings", name);
	if (text != NULL && (directory < 0 || write_text(directory, file, &e) < 0))
		log_info("the settings are not published", LOG_E(&e));
	free(take_ptr(text));
}
