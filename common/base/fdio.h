/* SPDX-License-Identifier: Apache-2.0 */
/* fdio.h - complete reads and writes, atomic files, paths that cannot leave a directory. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Prefix of the temporary files of fdio_store(). One left behind by a power loss may be deleted. */
#define FDIO_DRAFT ".draft-"

/* Transfer all of size, through EINTR and short transfers; fdio_read fails at an early end of file.
 */
int fdio_read(int fd, void *data, size_t size, struct err *);
int fdio_write(int fd, const void *data, size_t size, struct err *);

/* openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS and O_CLOEXEC. -1
 * with *e: not_found, path_not_allowed if the path leaves dir, or internal. */
int fdio_open_beneath(int dir, const char *path, uint64_t flags, mode_t mode, struct err *);

/* Opens a file for reading in a directory that the operator fills. A symlink may lead to another
 * place in the directory, as in a mounted Secret, but not outside. */
int fdio_open_inside(int dir, const char *path, struct err *);

/* denied: other users have any right to the open file, which holds a secret. */
int fdio_check_private(int fd, struct err *);
/* Reads a regular file into a blob, followed by a zero byte that is not counted; limit_exceeded
 * over limit bytes. */
int fdio_load(int dir, const char *name, size_t limit, struct blob *, struct err *);
/* The same for an open file; the name is for *e. */
int fdio_load_open(int fd, const char *name, size_t limit, struct blob *, struct err *);
/* The same for a path given by the user of this program; symlinks are followed. */
int fdio_load_given(const char *path, size_t limit, struct blob *, struct err *);

/* Was the file neither replaced nor changed between two calls of stat(2)? */
bool fdio_same(const struct stat *, const struct stat *);

/* Writes a file atomically, also across a power loss: temporary file, fsync, rename, fsync of dir.
 */
int fdio_store(int dir, const char *name, const void *data, size_t size, mode_t mode, struct err *);

/* Opens a directory below dir (AT_FDCWD: an absolute path). Creates it and missing parents with
 * exactly this mode. The last component must not be a symlink. The caller owns the descriptor. */
int fdio_directory(int dir, const char *path, mode_t mode, struct err *);

/*
 * A message with up to 16 descriptors over a unix socket. Received descriptors are O_CLOEXEC and
 * belong to the caller. *nfds: in, the capacity of fds; out, the number received; NULL: accept
 * none. -1 with errno: EMSGSIZE if the message or the descriptors exceed the capacity; EMFILE if
 * this process can open no more descriptors (the data was received, the descriptors are lost).
 */
ssize_t fdio_send(int sock, const void *data, size_t size, const int *fds, size_t nfds);
ssize_t fdio_receive(int sock, void *data, size_t size, int *fds, size_t *nfds, int flags);
