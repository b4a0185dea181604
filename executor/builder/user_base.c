/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_base.c - two mounts of a box: /user/base, which its programs write to, and /user/index,
 * which they read.
 *
 * Nothing else is mounted below /user, so that one Landlock rule for it allows no more than that
 * (confine/guest_landlock.c).  Files in /user/base count towards the memory of the box, as all
 * files that it writes do.  Trusts the executor for the texts, which have no password.
 */
#include "executor/builder/user_base.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "executor/builder/workspace_table.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

enum {
	BASE_FILES = 65536,
	INDEX_BYTES = 64 << 10,
	INDEX_FILES = 4,
};

static const struct {
	const char *variable, *name;
} files[] = {
	{ USER_BASE_PIP, "pip.conf" },
	{ USER_BASE_NPM, "npmrc" },
};

static int
write_file(int directory, const char *name, const char *text, struct err *e)
{
	auto_fd int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (file < 0 || fchmod(file, 0644) < 0)
		return err_sys(e, "make %s", name);
	return fdio_write(file, text, strlen(text), e);
}

/* Returns a detached mount, as workspace_table_tmpfs() does. */
static int
make_index(struct err *e)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC };
	auto_fd int mount = workspace_table_tmpfs(INDEX_BYTES, INDEX_FILES, geteuid(), e);

	if (mount < 0)
		return -1;
	for (size_t i = 0; i < COUNT(files); i++) {
		const char *text = getenv(files[i].variable);

		if (text != NULL && write_file(mount, files[i].name, text, e) < 0)
			return -1;
	}
	if (fchmodat(mount, ".", 0755, 0) < 0 ||
	    mount_setattr(mount, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0)
		return err_sys(e, "restrict /user/index");
	return take_fd(&mount);
}

int
user_base_mount(int space, uid_t owner, uint64_t bytes, struct err *e)
{
	auto_fd int base = workspace_table_tmpfs(bytes, BASE_FILES, owner, e);
	auto_fd int index = base < 0 ? -1 : make_index(e);

	if (index < 0 || workspace_table_place(base, space, "/user/base", e) < 0)
		return -1;
	return workspace_table_place(index, space, "/user/index", e);
}
