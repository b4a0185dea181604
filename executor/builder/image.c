/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.c - mounts parts of an image.
 *
 * The image is hostile.  Nothing of it is executed here, and no path is resolved through one of its
 * links: parts are directories directly below its root, or files of `within`, and the tree does not
 * change after they were found.
 */
#include "executor/builder/image.h"

#include "executor/builder/order.h"
#include "executor/builder/workspace_table.h"

#include "common/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
	PARTS = 24,
	PART_NAME = 64,
};

static struct image {
	char parts[PARTS][PART_NAME]; /* below the image, and below the root of a box */
	size_t nparts;
} images[ORDER_MAX_ENVIRONMENTS];

/* What a box has for itself, and what is a link into /usr. */
static const char *const own[] = { "bin", "cloister", "dev", "etc", "lib", "lib32", "lib64",
	"libx32", "mnt", "node_modules", "packages", "proc", "run", "sandbox", "sbin", "sys", "tmp",
	"user", "workspace" };

static const struct {
	const char *path;
	mode_t kind;
} within[] = {
	{ "etc/alternatives", S_IFDIR },
	{ "etc/ld.so.cache", S_IFREG },
	{ "etc/mime.types", S_IFREG },
};

static bool
is_own(const char *name)
{
	for (size_t i = 0; i < COUNT(own); i++)
		if (strcmp(own[i], name) == 0)
			return true;
	return name[0] == '.' || strlen(name) >= PART_NAME;
}

/* The place of a part in the root, which a host may lack. */
static int
make_place(int root, const char *path, mode_t kind, struct err *e)
{
	struct stat st;

	if (fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return (st.st_mode & S_IFMT) == kind ? 0
		                                     : err_set(e, ERR_runtime_missing,
							   "an image cannot replace /%s of this "
							   "host, which is of another kind",
							   path);
	if (kind == S_IFDIR)
		return mkdirat(root, path, 0755) < 0 ? err_sys(e, "make /%s", path) : 0;

	auto_fd int file = openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	return file < 0 ? err_sys(e, "make /%s", path) : 0;
}

static int
add_part(struct image *image, int root, const char *path, mode_t kind, struct err *e)
{
	if (image->nparts == PARTS)
		return err_set(e, ERR_runtime_missing,
		    "the image has more than %d directories in its root", PARTS);
	if (make_place(root, path, kind, e) < 0)
		return -1;
	snprintf(image->parts[image->nparts++], PART_NAME, "%s", path);
	return 0;
}

static bool
is_directory(int parent, const char *name)
{
	struct stat st;

	return fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int
find_directories(struct image *image, int root, int tree, struct err *e)
{
	int listed = openat(tree, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_dir DIR *dir = listed < 0 ? NULL : fdopendir(listed);

	if (dir == NULL)
		return err_sys(e, "list an image");
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
		if (!is_own(entry->d_name) && is_directory(tree, entry->d_name) &&
		    add_part(image, root, entry->d_name, S_IFDIR, e) < 0)
			return -1;
	return 0;
}

static int
check_parts(const struct image *image, struct err *e)
{
	for (size_t i = 0; i < image->nparts; i++)
		if (strcmp(image->parts[i], "usr") == 0)
			return 0;
	return err_set(e, ERR_runtime_missing, "the image has no directory /usr");
}

static int
find_within(struct image *image, int root, int tree, struct err *e)
{
	struct stat st;

	if (!is_directory(tree, "etc"))
		return 0;
	for (size_t i = 0; i < COUNT(within); i++)
		if (fstatat(tree, within[i].path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    (st.st_mode & S_IFMT) == within[i].kind &&
		    add_part(image, root, within[i].path, within[i].kind, e) < 0)
			return -1;
	return 0;
}

/* The parts of an image are merged, so those of the boxes must be. */
static int
check_merged(int root, struct err *e)
{
	struct stat st;

	if (fstatat(root, "lib", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		return 0;
	return err_set(e, ERR_runtime_missing,
	    "an image needs a host whose /bin and /lib are links into /usr");
}

static int
bind_tree(int root, const char *directory, const char *path, struct err *e)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
	};
	auto_fd int tree = open_tree(AT_FDCWD, directory, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0 || mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0)
		return err_sys(e, "%.100s", directory);
	if (mkdirat(root, path, 0755) < 0 ||
	    move_mount(tree, "", root, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "bind an image");
	return take_fd(&tree);
}

int
image_bind(int root, uint32_t environment, const char *directory, struct err *e)
{
	struct image *image = &images[environment];
	char path[64];

	snprintf(path, sizeof path, "cloister/images/%u", environment);
	if (check_merged(root, e) < 0)
		return -1;

	auto_fd int tree = bind_tree(root, directory, path, e);

	if (tree < 0)
		return -1;
	if (find_directories(image, root, tree, e) < 0 || find_within(image, root, tree, e) < 0)
		return -1;
	return check_parts(image, e);
}

/* The path may lead through links of the image, within it. */
bool
image_has(uint32_t environment, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char directory[64];
	struct stat st;

	snprintf(directory, sizeof directory, "/cloister/images/%u", environment);

	auto_fd int tree = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd int file = tree < 0 ? -1 : (int)syscall(SYS_openat2, tree, path, &how, sizeof how);

	return file >= 0 && fstat(file, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_mode & 0111) != 0;
}

static int
mount_part(uint32_t environment, const char *part, int space, struct err *e)
{
	char from[64 + PART_NAME], to[PART_NAME + 1];

	snprintf(from, sizeof from, "/cloister/images/%u/%s", environment, part);
	snprintf(to, sizeof to, "/%s", part);

	auto_fd int clone =
	    open_tree(AT_FDCWD, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);

	return clone < 0 ? err_sys(e, "%s of an image", to)
	                 : workspace_table_place(clone, space, to, e);
}

int
image_mount(uint32_t environment, int space, struct err *e)
{
	const struct image *image = &images[environment];

	for (size_t i = 0; i < image->nparts; i++)
		if (mount_part(environment, image->parts[i], space, e) < 0)
			return -1;
	return 0;
}
