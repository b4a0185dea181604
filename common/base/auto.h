/* SPDX-License-Identifier: Apache-2.0 */
/* auto.h - scope-bound ownership: a local variable releases its resource at the end of its scope
 * unless the resource is taken. */
#pragma once

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static inline void
auto_free_(void *p)
{
	free(*(void **)p);
}

static inline void
auto_fd_(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void
auto_dir_(DIR **dir)
{
	if (*dir != NULL)
		closedir(*dir);
}

#define auto_free __attribute__((cleanup(auto_free_)))
#define auto_fd   __attribute__((cleanup(auto_fd_)))
#define auto_dir  __attribute__((cleanup(auto_dir_)))

static inline int
take_fd(int *fd)
{
	int got = *fd;

	*fd = -1;
	return got;
}

/* take_ptr(p) transfers ownership: it returns the value of p and sets p to NULL. */
#define take_ptr(p) \
	({ \
		typeof(p) got_ = (p); \
		(p) = NULL; \
		got_; \
	})

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
