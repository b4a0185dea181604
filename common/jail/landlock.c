/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landlock.c - denies every right that the running kernel supports, then permits the jail's paths.
 *
 * Trusts nothing. Landlock does not control connect(2) to a socket in the file system; the mode of
 * an edge's directory does. The kernel headers of the build may be older than the running kernel,
 * so the rights added after Linux 6.1 are defined here.
 */
#include "common/jail/landlock.h"

#include "common/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define RIGHT(bit) (1ULL << (bit))

enum {
	ABI_REFER = 2,
	ABI_TRUNCATE = 3,
	ABI_NET = 4,
	ABI_IOCTL = 5,
	ABI_SCOPES = 6,
};

static const uint64_t first_rights = RIGHT(13) - 1; /* EXECUTE to MAKE_SYM */
static const uint64_t truncate_right = RIGHT(14);
static const uint64_t ioctl_right = RIGHT(15);
static const uint64_t tcp_bind_right = RIGHT(0), tcp_connect_right = RIGHT(1);
static const uint64_t scopes = RIGHT(0) | RIGHT(1); /* abstract unix sockets, signals */

static const uint64_t read_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t write_rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM |
                                     LANDLOCK_ACCESS_FS_REFER | truncate_right;
static const uint64_t bind_rights = LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REMOVE_FILE;
static const uint64_t file_rights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                    LANDLOCK_ACCESS_FS_READ_FILE | truncate_right | ioctl_right;

/* landlock_ruleset_attr as of ABI 6; an older kernel is given only the part that it knows. */
struct ruleset {
	uint64_t fs, net, scoped;
};

static struct ruleset
rights_of(int abi, const struct jail *j, size_t *size)
{
	struct ruleset r = { .fs = first_rights };

	*size = sizeof r.fs;
	if (abi >= ABI_REFER)
		r.fs |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= ABI_TRUNCATE)
		r.fs |= truncate_right;
	if (abi >= ABI_IOCTL)
		r.fs |= ioctl_right;
	if (abi >= ABI_NET) {
		r.net = (j->tcp_bind ? 0 : tcp_bind_right) |
		        (j->tcp_connect || j->outside ? 0 : tcp_connect_right);
		*size = offsetof(struct ruleset, scoped);
	}
	if (abi >= ABI_SCOPES) {
		r.scoped = scopes;
		*size = sizeof r;
	}
	return r;
}

static int
allow(int ruleset, const struct jail_path *p, uint64_t handled, struct err *e)
{
	struct stat st;
	struct landlock_path_beneath_attr rule = { .parent_fd = p->fd };

	if (fstat(p->fd, &st) < 0)
		return err_sys(e, "stat a path of the jail");
	rule.allowed_access = (p->access & JAIL_READ ? read_rights : 0) |
	                      (p->access & JAIL_WRITE ? write_rights : 0) |
	                      (p->access & JAIL_BIND ? bind_rights : 0);
	rule.allowed_access &= handled & (S_ISDIR(st.st_mode) ? UINT64_MAX : file_rights);
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return err_sys(e, "landlock_add_rule");
	return 0;
}

static bool
allows_root(const struct jail *j)
{
	struct stat root, st;

	for (size_t i = 0; i < j->npaths && stat("/", &root) == 0; i++)
		if (fstat(j->paths[i].fd, &st) == 0 && st.st_dev == root.st_dev &&
		    st.st_ino == root.st_ino)
			return true;
	return false;
}

static int
prove(struct err *e)
{
	auto_fd int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return root < 0 && errno == EACCES
	           ? 0
	           : err_set(e, ERR_internal, "Landlock is in force, but / can still be read");
}

int
landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 1 ? 0 : (int)abi;
}

int
landlock_enter(const struct jail *j, bool *in_force, struct err *e)
{
	*in_force = false;
#ifdef SANITIZED
	return 0; /* a sanitizer reads /proc when it reports */
#endif
	int abi = landlock_abi();
	size_t size;

	if (abi < 1)
		return 0;
	if (allows_root(j))
		return err_set(e, ERR_internal, "a daemon must not get the whole file system");
	struct ruleset handled = rights_of(abi, j, &size);
	auto_fd int ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0);
	if (ruleset < 0)
		return err_sys(e, "landlock_create_ruleset");
	for (size_t i = 0; i < j->npaths; i++)
		if (allow(ruleset, &j->paths[i], handled.fs, e) < 0)
			return -1;
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return err_sys(e, "landlock_restrict_self");
	*in_force = true;
	return prove(e);
}
