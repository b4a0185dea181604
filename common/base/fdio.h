/* SPDX-License-Identifier: Apache-2.0 */
/* fdio.h - reads and writes that finish, files that appear whole, paths that stay inside. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Names that begin so are drafts of fdio_store(); one left behind by a power loss may be deleted.
 */
#define FDIO_DRAFT ".draft-"

/* All of size, through EINTR and short transfers; fdio_read fails at an early end. */
int fdio_read(int fd, void *data, size_t size, struct err *);
int fdio_write(int fd, const void *data, size_t size, struct err *);

/* openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS, O_CLOEXEC added.
 * -1 with *e: not_found, path_not_allowed for one that leaves, or internal. */
int fdio_open_beneath(int dir, const char *path, uint64_t flags, mode_t mode, struct err *);

/* To read a file of a folder that an operator fills: a link may lead to another place in the
 * folder, as in a mounted Secret, and to none outside. */
int fdio_open_inside(int dir, const char *path, struct err *);

/* A regular file as a blob with a zero byte behind it (not counted); limit_exceeded over limit
 * bytes. */
int fdio_load(int dir, const char *name, size_t limit, struct blob *, struct err *);
/* The same of one that is open; the name is for *e. */
int fdio_load_open(int fd, const char *name, size_t limit, struct blob *, struct err *);
/* The same of a file that whoever runs this program names, maybe by a link. */
int fdio_load_given(const char *path, size_t limit, struct blob *, struct err *);

/* Was a file neither replaced nor changed between two looks at its path? */
bool fdio_same(const struct stat *, const struct stat *);

/* The file is there wholly or not at all, also after a power loss: temporary file, fsync, rename,
 * fsync of dir. */
int fdio_store(int dir, const char *name, const void *data, size_t size, mode_t mode, struct err *);

/* Opens the folder below dir (AT_FDCWD: an absolute path), and makes it and the folders above it
 * where they are missing, with exactly this mode.  The last part may not be a link.  A descriptor
 * of the caller. */
int fdio_folder(int dir, const char *path, mode_t mode, struct err *);

/*
 * A message with up to 16 descriptors over a unix socket; those received are O_CLOEXEC and the
 * caller's.  *nfds: the room in fds before, how many came after; NULL: none is wanted.  -1 with
 * errno; EMSGSIZE if the message or the descriptors were more than there is room for, EMFILE if
 * this process may have no more descriptors: the data is there, those are lost.
 */
ssize_t fdio_send(int sock, const void *data, size_t size, const int *fds, size_t nfds);
ssize_t fdio_receive(int sock, void *data, size_t size, int *fds, size_t *nfds, int flags);
