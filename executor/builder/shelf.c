/* SPDX-License-Identifier: Apache-2.0 */
/* shelf.c - workspaces in a mount namespace of their own; trusts ids that order_check() passed. */
#include "executor/builder/shelf.h"

#include "common/auto.h"
#include "executor/builder/order.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

static struct {
	int here, there; /* mount namespaces: the boxes' template, and the shelf */
	int folder;      /* in there */
	struct {
		int fd; /* of its root; 0: there is none, as descriptor 0 is never one */
		uint64_t bytes;
	} workspaces[ORDER_MAX_LIVING + 1];
} shelf = { -1, -1, -1, { { 0, 0 } } };

static int
go(int namespace, struct err *e)
{
	return setns(namespace, CLONE_NEWNS) < 0 ? err_sys(e, "change the mount namespace") : 0;
}

/* Or every order after this would be done at the wrong place. */
static void
go_back(void)
{
	int r = setns(shelf.here, CLONE_NEWNS);

	must(r == 0);
}

int
shelf_open(const struct host *h, struct err *e)
{
	auto_fd int folder = shelf_tmpfs(4 << 20, ORDER_MAX_LIVING + 2, geteuid(), e);

	if (folder < 0)
		return -1;
	shelf.here = openat(h->proc, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (shelf.here < 0 || unshare(CLONE_NEWNS) < 0)
		return err_sys(e, "make the shelf's mount namespace");
	shelf.there = openat(h->proc, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (shelf.there < 0 ||
	    move_mount(folder, "", AT_FDCWD, "/workspace", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mount the shelf");
	shelf.folder = take_fd(&folder);
	return go(shelf.here, e);
}

int
shelf_tmpfs(uint64_t bytes, uint64_t files, uid_t owner, struct err *e)
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
	if (mkdirat(shelf.folder, name, 0700) < 0)
		return err_sys(e, "make a place on the shelf");
	if (move_mount(mount, "", shelf.folder, name, MOVE_MOUNT_F_EMPTY_PATH) == 0)
		return 0;
	err_sys(e, "mount a workspace");
	unlinkat(shelf.folder, name, AT_REMOVEDIR);
	return -1;
}

int
shelf_add(uint32_t id, uint64_t bytes, uint64_t files, uid_t owner, struct err *e)
{
	if (shelf.workspaces[id].fd != 0)
		return err_set(e, ERR_invalid_argument, "workspace %u is there already", id);
	auto_fd int mount = shelf_tmpfs(bytes, files, owner, e);

	if (mount < 0 || go(shelf.there, e) < 0)
		return -1;
	int r = hang(id, mount, e);

	go_back();
	if (r < 0)
		return -1;
	shelf.workspaces[id].bytes = bytes;
	return shelf.workspaces[id].fd = take_fd(&mount);
}

int
shelf_remove(uint32_t id, struct err *e)
{
	char path[32];
	int r = 0;

	if (shelf.workspaces[id].fd == 0)
		return err_set(e, ERR_invalid_argument, "workspace %u is not there", id);
	snprintf(path, sizeof path, "/workspace/%u", id);
	if (go(shelf.there, e) < 0)
		return -1;
	if (umount2(path, MNT_DETACH) < 0 || rmdir(path) < 0)
		r = err_sys(e, "remove workspace %u", id);
	go_back();
	close(shelf.workspaces[id].fd);
	shelf.workspaces[id].fd = 0;
	return r;
}

int
shelf_lend(uint32_t id, uint64_t *bytes, struct err *e)
{
	if (shelf.workspaces[id].fd == 0)
		return err_set(e, ERR_invalid_argument, "workspace %u is not there", id);
	*bytes = shelf.workspaces[id].bytes;
	if (go(shelf.there, e) < 0)
		return -1;
	int mount = open_tree(
	    shelf.workspaces[id].fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (mount < 0)
		err_sys(e, "lend workspace %u", id);
	go_back();
	return mount;
}
