/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box_trust.c - covers a box's directory of certificates.
 *
 * Trusts the executor for the certificate, as programs of the box read it and nobody else.
 */
#include "executor/builder/box_trust.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "executor/builder/workspace_table.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY "/etc/ssl/certs"

enum {
	FILES = 4,
	SLACK = 16 << 10, /* whole pages, and the directory */
};

static struct trust kept;

static int
copy(const struct blob *from, struct blob *to, struct err *e)
{
	to->data = malloc(from->size + 1);
	if (to->data == NULL)
		return err_sys(e, "certificates");
	if (from->size > 0)
		memcpy(to->data, from->data, from->size);
	to->size = from->size;
	return 0;
}

int
box_trust_keep(const struct trust *trust, struct err *e)
{
	return copy(&trust->all, &kept.all, e) < 0 ? -1 : copy(&trust->added, &kept.added, e);
}

char *
box_trust_read(int fd, struct err *e)
{
	char *text = calloc(1, BOX_TRUST_BYTES);
	size_t size = 0;
	ssize_t n = 0;

	/* The builder waits for nobody. */
	if (text != NULL && fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
		while (size < BOX_TRUST_BYTES &&
		       (n = read(fd, text + size, BOX_TRUST_BYTES - size)) > 0)
			size += (size_t)n;
	if (text != NULL && n == 0 && size > 0 && size < BOX_TRUST_BYTES &&
	    memchr(text, '\0', size) == NULL)
		return text;
	free(text);
	err_set(e, ERR_invalid_argument, "a certificate is not whole");
	return NULL;
}

static int
write_file(
    int directory, const char *path, const struct blob *first, const char *second, struct err *e)
{
	const char *name = strrchr(path, '/') + 1;
	auto_fd int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (file < 0 || fchmod(file, 0644) < 0)
		return err_sys(e, "make %s", name);
	if (first->size > 0 && fdio_write(file, first->data, first->size, e) < 0)
		return -1;
	return fdio_write(file, second, strlen(second), e);
}

/* Returns a detached mount, as workspace_table_tmpfs() does. */
static int
make_directory(const char *certificate, struct err *e)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC };
	uint64_t bytes = kept.all.size + kept.added.size + 2 * strlen(certificate) + SLACK;
	auto_fd int mount = workspace_table_tmpfs(bytes, FILES, geteuid(), e);

	if (mount < 0 || write_file(mount, TRUST_BUNDLE, &kept.all, certificate, e) < 0 ||
	    write_file(mount, TRUST_ADDED, &kept.added, certificate, e) < 0)
		return -1;
	if (fchmodat(mount, ".", 0755, 0) < 0 ||
	    mount_setattr(mount, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0)
		return err_sys(e, "restrict " DIRECTORY);
	return take_fd(&mount);
}

int
box_trust_mount(int space, const char *certificate, bool *there, struct err *e)
{
	auto_fd int mount = make_directory(certificate, e);

	if (mount < 0 || (*there && workspace_table_uncover(space, DIRECTORY, e) < 0))
		return -1;
	*there = workspace_table_place(mount, space, DIRECTORY, e) == 0;
	return *there ? 0 : -1;
}
