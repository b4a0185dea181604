/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workspace_table.c - workspaces in a mount namespace of their own.
 *
 * Trusts ids that order_check() passed.  Of an earlier builder's namespace it trusts that only a
 * builder could mount there, and reads from the kernel what each mount is.
 */
#include "executor/builder/workspace_table.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "executor/builder/limits/release.h"
#include "executor/builder/order.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

struct place {
	int fd; /* of its root; 0: none, because descriptor 0 is never one */
	uint64_t bytes, files;
	uid_t owner;
	bool left; /* left by an earlier builder and not adopted */
};

static struct {
	int here, there; /* mount namespaces: the boxes' template, and the workspace table */
	int directory;   /* the root of the workspace table's namespace */
	struct place places[ORDER_MAX_LIVING + 1];
	unsigned users[ORDER_MAX_LIVING + 1];
	bool doomed[ORDER_MAX_LIVING + 1]; /* to wipe when unused */
} workspace_table = { .here = -1, .there = -1, .directory = -1 };

static int
go(int namespace, struct err *e)
{
	return setns(namespace, CLONE_NEWNS) < 0 ? err_sys(e, "change the mount namespace") : 0;
}

/* Otherwise every later order would be executed in the wrong namespace. */
static void
go_back(void)
{
	int r = setns(workspace_table.here, CLONE_NEWNS);

	must(r == 0);
}

static int
open_namespace(const struct host *h, struct err *e)
{
	int fd = openat(h->proc, "self/ns/mnt", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? err_sys(e, "open a mount namespace") : fd;
}

/* ---- a new one ---- */

/* A new namespace is a copy of the boxes' template.  Nothing of that may remain. */
static int
leave_nothing(struct err *e)
{
	if (chdir("/workspace") < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return err_sys(e, "empty the workspace table's mount namespace");
	return 0;
}

static int
make(const struct host *h, struct err *e)
{
	auto_fd int directory = workspace_table_tmpfs(4 << 20, ORDER_MAX_LIVING + 2, geteuid(), e);

	if (directory < 0)
		return -1;
	if (unshare(CLONE_NEWNS) < 0)
		return err_sys(e, "make the workspace table's mount namespace");
	workspace_table.there = open_namespace(h, e);
	if (workspace_table.there < 0)
		return -1;
	if (move_mount(directory, "", AT_FDCWD, "/workspace", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mount the workspace table");
	workspace_table.directory = take_fd(&directory);
	return leave_nothing(e) < 0 ? -1 : go(workspace_table.here, e);
}

/* ---- an earlier builder's ---- */

/* The number in the name, or 0. */
static uint32_t
id_of(const char *name)
{
	char *end;
	unsigned long id = strtoul(name, &end, 10);

	return *end == '\0' && id <= ORDER_MAX_LIVING ? (uint32_t)id : 0;
}

/* A directory without a mount was left by a builder that was killed between two steps. */
static void
note_left(const char *name)
{
	const unsigned long flags = ST_NOSUID | ST_NODEV;
	uint32_t id = id_of(name);
	struct statx st;
	struct statfs fs;
	auto_fd int fd =
	    openat(workspace_table.directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (id == 0 || fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_UID, &st) < 0 ||
	    fstatfs(fd, &fs) < 0)
		return;
	if ((st.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0 || fs.f_type != TMPFS_MAGIC ||
	    ((unsigned long)fs.f_flags & flags) != flags) {
		unlinkat(workspace_table.directory, name, AT_REMOVEDIR);
		return;
	}
	workspace_table.places[id] = (struct place){
		.fd = take_fd(&fd),
		.bytes = fs.f_blocks * (uint64_t)fs.f_bsize,
		.files = fs.f_files,
		.owner = st.stx_uid,
		.left = true,
	};
}

/* -1: it is not a namespace of ours. */
static int
enter(int kept)
{
	struct statfs fs;
	const struct dirent *entry;
	auto_dir DIR *dir = NULL;

	if (setns(kept, CLONE_NEWNS) < 0)
		return -1;
	workspace_table.directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (workspace_table.directory >= 0 && fstatfs(workspace_table.directory, &fs) == 0 &&
	    fs.f_type == TMPFS_MAGIC)
		dir = opendir("/");
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			note_left(entry->d_name);
	go_back();
	return dir != NULL ? 0 : -1;
}

int
workspace_table_open(struct host *h, struct err *e)
{
	workspace_table.here = open_namespace(h, e);
	if (workspace_table.here < 0)
		return -1;
	if (h->workspace_table_fd >= 0 && enter(h->workspace_table_fd) == 0)
		return workspace_table.there = h->workspace_table_fd;
	if (h->workspace_table_fd >= 0)
		close(take_fd(&h->workspace_table_fd));
	return make(h, e) < 0 ? -1 : workspace_table.there;
}

/* ---- workspaces ---- */

int
workspace_table_tmpfs(uint64_t bytes, uint64_t files, uid_t owner, struct err *e)
{
	auto_fd int context = fsopen("tmpfs", FSOPEN_CLOEXEC);
	char size[24], inodes[24], uid[16];

	snprintf(size, sizeof size, "%" PRIu64, bytes);
	snprintf(inodes, sizeof inodes, "%" PRIu64, files);
	snprintf(uid, sizeof uid, "%u", owner);
	if (context < 0 || fsconfig(context, FSCONFIG_SET_STRING, "size", size, 0) < 0 ||
	    fsconfig(context, FSCONFIG_SET_STRING, "nr_inodes", inodes, 0) < 0 ||
	    fsconfig(context, FSCONFIG_SET_STRING, "mode", "0700", 0) < 0 ||
	    fsconfig(context, FSCONFIG_SET_STRING, "uid", uid, 0) < 0 ||
	    fsconfig(context, FSCONFIG_SET_STRING, "gid", uid, 0) < 0 ||
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_sys(e, "make a tmpfs of %s bytes", size);

	int mount = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);

	return mount < 0 ? err_sys(e, "mount a tmpfs") : mount;
}

static int
hang(uint32_t id, int mount, struct err *e)
{
	char name[16];

	snprintf(name, sizeof name, "%u", id);
	if (mkdirat(workspace_table.directory, name, 0700) < 0)
		return err_sys(e, "make a mount point for a workspace");
	if (move_mount(mount, "", workspace_table.directory, name, MOVE_MOUNT_F_EMPTY_PATH) == 0)
		return 0;
	err_sys(e, "mount a workspace");
	unlinkat(workspace_table.directory, name, AT_REMOVEDIR);
	return -1;
}

int
workspace_table_add(uint32_t id, uint64_t bytes, uint64_t files, uid_t owner, struct err *e)
{
	if (workspace_table.places[id].fd != 0)
		return err_set(e, ERR_invalid_argument, "workspace %u exists already", id);
	auto_fd int mount = workspace_table_tmpfs(bytes, files, owner, e);

	if (mount < 0 || go(workspace_table.there, e) < 0)
		return -1;
	int r = hang(id, mount, e);

	go_back();
	if (r < 0)
		return -1;
	workspace_table.places[id] = (struct place){ take_fd(&mount), bytes, files, owner, false };
	return workspace_table.places[id].fd;
}

/* Counts whole pages, as tmpfs does. */
static uint64_t
pages(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page;
}

int
workspace_table_adopt(uint32_t id, uint64_t bytes, uint64_t files, uid_t owner, struct err *e)
{
	struct place *p = &workspace_table.places[id];

	if (p->fd == 0 || !p->left)
		return err_set(
		    e, ERR_invalid_argument, "an earlier builder left no workspace %u", id);
	if (pages(p->bytes) != pages(bytes) || p->files != files || p->owner != owner)
		return err_set(e, ERR_invalid_argument,
		    "workspace %u was made with other parameters (%llu bytes, %llu files, uid %u)",
		    id, (unsigned long long)p->bytes, (unsigned long long)p->files, p->owner);
	p->left = false;
	return p->fd;
}

void
workspace_table_clear(void)
{
	struct err e;

	for (uint32_t id = 1; id <= ORDER_MAX_LIVING; id++)
		if (workspace_table.places[id].left && workspace_table_remove(id, &e) < 0)
			log_error("the workspaces of an earlier builder were not wiped", LOG_E(&e));
}

bool
workspace_table_has(uint32_t id)
{
	return workspace_table.places[id].fd != 0;
}

int
workspace_table_remove(uint32_t id, struct err *e)
{
	char path[32];
	int r = 0;

	if (workspace_table.places[id].fd == 0)
		return err_set(e, ERR_invalid_argument, "workspace %u does not exist", id);
	snprintf(path, sizeof path, "/%u", id);
	if (go(workspace_table.there, e) < 0)
		return -1;
	if (umount2(path, MNT_DETACH) < 0 || rmdir(path) < 0)
		r = err_sys(e, "remove workspace %u", id);
	go_back();
	release_close(&workspace_table.places[id].fd, 1);
	workspace_table.places[id] = (struct place){ 0 };
	return r;
}

int
workspace_table_lend(uint32_t id, uint64_t *bytes, struct err *e)
{
	if (workspace_table.places[id].fd == 0)
		return err_set(e, ERR_invalid_argument, "workspace %u does not exist", id);
	*bytes = workspace_table.places[id].bytes;
	if (go(workspace_table.there, e) < 0)
		return -1;
	int mount = open_tree(
	    workspace_table.places[id].fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (mount < 0)
		err_sys(e, "clone the mount of workspace %u", id);
	go_back();
	return mount;
}

static int
clone_part(uint32_t id, const char *directory, struct err *e)
{
	struct mount_attr attr = { .attr_set =
				       MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };
	auto_fd int mount = open_tree(workspace_table.places[id].fd, directory,
	    AT_SYMLINK_NOFOLLOW | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (mount < 0 || mount_setattr(mount, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0)
		return err_sys(e, "clone a part of workspace %u", id);
	return take_fd(&mount);
}

int
workspace_table_mount(
    uint32_t id, const char *directory, int space, const char *path, struct err *e)
{
	if (workspace_table.places[id].fd == 0)
		return err_set(e, ERR_invalid_argument, "workspace %u does not exist", id);
	if (go(workspace_table.there, e) < 0)
		return -1;

	auto_fd int mount = clone_part(id, directory, e);
	int r = mount < 0 || go(space, e) < 0 ? -1 : 0;

	if (r == 0 && move_mount(mount, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		r = err_sys(e, "mount workspace %u on %s", id, path);
	go_back();
	return r;
}

int
workspace_table_place(int mount, int space, const char *path, struct err *e)
{
	int r = go(space, e);

	if (r == 0 && move_mount(mount, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		r = err_sys(e, "mount on %s", path);
	go_back();
	return r;
}

int
workspace_table_uncover(int space, const char *path, struct err *e)
{
	int r = go(space, e);

	if (r == 0 && umount2(path, MNT_DETACH) < 0)
		r = err_sys(e, "unmount %s", path);
	go_back();
	return r;
}

/* ---- its users ---- */

void
workspace_table_use(uint32_t id)
{
	workspace_table.users[id]++;
}

void
workspace_table_release(uint32_t id)
{
	must(workspace_table.users[id] > 0);
	workspace_table.users[id]--;
	if (workspace_table.doomed[id])
		workspace_table_wipe(id);
}

void
workspace_table_wipe(uint32_t id)
{
	struct err e;

	workspace_table.doomed[id] = workspace_table.users[id] > 0;
	if (!workspace_table.doomed[id] && workspace_table_remove(id, &e) < 0)
		log_error("a workspace is not wiped", LOG_E(&e));
}

bool
workspace_table_is_doomed(uint32_t id)
{
	return workspace_table.doomed[id];
}
