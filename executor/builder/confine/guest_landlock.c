/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guest_landlock.c - Landlock, with all restrictions that the running kernel supports; defines
 * constants that are newer than the headers.
 *
 * Trusts the mounts that exist when it is called.
 */
#include "executor/builder/confine/guest_landlock.h"

#include "common/base/auto.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>

enum {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	MAKE_CHAR = 1 << 6,
	MAKE_SOCK = 1 << 9,
	MAKE_BLOCK = 1 << 11,
	FILE_RIGHTS = (1 << 13) - 1, /* ABI 1 */
	REFER = 1 << 13,             /* 2 */
	TRUNCATE = 1 << 14,          /* 3 */
	IOCTL_DEV = 1 << 15,         /* 5 */
	NET_TCP = 3,                 /* 4: bind, connect */
	SCOPES = 3,                  /* 6: abstract sockets, signals */
	SCOPES_ABI = 6,
	VERSION = 1, /* flag: returns the ABI version */
	BENEATH = 1, /* kind of rule */
};

struct ruleset {
	uint64_t files, net, scopes;
};

struct beneath {
	uint64_t allowed;
	int32_t directory;
} __attribute__((packed));

struct rule {
	const char *path;
	uint64_t allowed;
};

static const uint64_t all = FILE_RIGHTS | REFER | TRUNCATE | IOCTL_DEV;
static const uint64_t look = EXECUTE | READ_FILE | READ_DIR;
static const uint64_t own =
    (FILE_RIGHTS | REFER | TRUNCATE) & ~(uint64_t)(MAKE_CHAR | MAKE_BLOCK | MAKE_SOCK);

static int
add(int ruleset, const struct rule *rule, uint64_t known, struct err *e)
{
	auto_fd int directory = open(rule->path, O_PATH | O_CLOEXEC);
	struct beneath beneath = { rule->allowed & known, directory };

	if (directory < 0 || syscall(SYS_landlock_add_rule, ruleset, BENEATH, &beneath, 0) < 0)
		return err_sys(e, "landlock %s", rule->path);
	return 0;
}

int
guest_landlock_enter(bool file_helper, bool sockets, bool *scopes, struct err *e)
{
	const uint64_t writable = own | (sockets ? MAKE_SOCK : 0);
	const struct rule guest[] = {
		{ "/", look },
		{ "/dev", READ_FILE | WRITE_FILE },
		{ "/dev/null",
		    READ_FILE | WRITE_FILE | IOCTL_DEV }, /* isatty: ENOTTY, not EACCES */
		{ "/dev/pts", READ_FILE | WRITE_FILE | IOCTL_DEV },
		{ "/dev/tty", READ_FILE | WRITE_FILE | IOCTL_DEV },
		{ "/tmp", writable },
		/* For /user/base, which may be mounted later: a rule for a mount point ends there.
		 */
		{ "/user", writable },
		{ "/workspace", writable },
	};
	const struct rule *rules = file_helper ? &guest[COUNT(guest) - 1] : guest;
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION);
	uint64_t known = abi >= 5   ? all
	                 : abi >= 3 ? all & ~(uint64_t)IOCTL_DEV
	                 : abi == 2 ? FILE_RIGHTS | REFER
	                            : FILE_RIGHTS;
	/* Its rules name single ports, so they cannot allow all of a box's own. */
	struct ruleset set = { known, abi >= 4 && !sockets ? NET_TCP : 0,
		abi >= SCOPES_ABI ? SCOPES : 0 };

	if (abi < 1)
		return err_sys(e, "landlock");
	auto_fd int ruleset = (int)syscall(SYS_landlock_create_ruleset, &set, sizeof set, 0);

	if (ruleset < 0)
		return err_sys(e, "make a landlock ruleset");
	for (; rules < guest + COUNT(guest); rules++)
		if (add(ruleset, rules, known, e) < 0)
			return -1;
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return err_sys(e, "enter a landlock domain");
	*scopes = abi >= SCOPES_ABI;
	return 0;
}
