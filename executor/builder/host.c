/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - turns a child of the executor into pid 1 of its own namespaces.
 *
 * Trusts only the host it was started on.  If started as root, every workspace has a host uid of
 * its own, from a range that only this builder uses while it runs.  If started as an ordinary
 * user, there is one uid, and namespaces, seccomp and Landlock separate boxes from each other.
 */
#include "executor/builder/host.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "executor/builder/confine/caps.h"
#include "executor/builder/order.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
	LINE = 256,
	/* HOST_SLOTS times ORDER_MAX_LIVING, and one more for each slot */
	UIDS = HOST_SLOTS * (ORDER_MAX_LIVING + 1),
};

/*
 * Possible first uids of boxes.  Debian assigns subordinate uids up to 600100000 (login.defs).  A
 * container that has a billion uids has the first two of these.
 */
static const uid_t first_uids[] = { 700000000, 800000000, 2010000000 };

/* Files with uid ranges that belong to users of the host. */
static const char *const subordinate[] = { "/etc/subuid", "/etc/subgid" };

static const char *const namespaces[HOST_NAMESPACES] = {
	[HOST_MNT] = "self/ns/mnt",
	[HOST_PID] = "self/ns/pid",
	[HOST_NET] = "self/ns/net",
	[HOST_IPC] = "self/ns/ipc",
	[HOST_UTS] = "self/ns/uts",
	[HOST_USER] = "self/ns/user",
	[HOST_CGROUP] = "self/ns/cgroup",
};

/* CHROOT: needed to change mount namespaces; SETPCAP: to empty a box's bounding set. */
static const int kept[] = { CAP_SYS_ADMIN, CAP_SYS_CHROOT, CAP_SETUID, CAP_SETGID, CAP_SETPCAP,
	CAP_KILL };

/* Boxes have a loopback and a network only if the builder has these, too. */
static const int network[] = { CAP_NET_ADMIN, CAP_NET_BIND_SERVICE };

/* ---- namespaces ---- */

static bool
has_capabilities(const int *caps, size_t n)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &head, data) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((data[caps[i] / 32].effective & 1u << caps[i] % 32) == 0)
			return false;
	return true;
}

/* Root in a user namespace may have few uids, or one. */
static bool
has_uids(uid_t first_uid)
{
	FILE *file = fopen("/proc/self/uid_map", "re");
	unsigned long first, count;
	bool has = false;
	char line[128], *end;

	while (file != NULL && !has && fgets(line, sizeof line, file) != NULL) {
		first = strtoul(line, &end, 10);
		strtoul(end, &end, 10);
		count = strtoul(end, NULL, 10);
		has = first <= first_uid && first + count >= first_uid + UIDS;
	}
	if (file != NULL)
		fclose(file);
	return has;
}

/* Format: USER:FIRST:COUNT.  A line in any other format assigns no uid. */
static bool
overlaps(const char *line, uid_t first_uid)
{
	const char *colon = strchr(line, ':');
	unsigned long long first, count;
	char *end;

	if (colon == NULL)
		return false;
	first = strtoull(colon + 1, &end, 10);
	count = *end == ':' ? strtoull(end + 1, NULL, 10) : 0;
	return count > 0 && first < (unsigned long long)first_uid + UIDS &&
	       (count > UINT64_MAX - first || first + count > first_uid);
}

/* Checks whether a user of the host has any of these uids.  If so, *e quotes the line that
 * assigns them. */
static bool
are_given(uid_t first_uid, struct err *e)
{
	char line[LINE];
	bool given = false;

	for (size_t i = 0; !given && i < COUNT(subordinate); i++) {
		FILE *file = fopen(subordinate[i], "re");

		while (file != NULL && !given && fgets(line, sizeof line, file) != NULL)
			given = overlaps(line, first_uid);
		if (file != NULL)
			fclose(file);
		line[strcspn(line, "\n")] = '\0';
		if (given)
			err_set(e, ERR_isolation_unavailable,
			    "uids %u to %u, which boxes need, belong to another user according to "
			    "%s: %s",
			    first_uid, first_uid + UIDS - 1, subordinate[i], line);
	}
	return given;
}

/* -1: the host has enough uids, but every range belongs to a user.  0 with first_uid 0: there
 * are too few. */
static int
choose_uids(struct host *h, struct err *e)
{
	bool any = false;

	for (size_t i = 0; i < COUNT(first_uids) && h->first_uid == 0; i++) {
		if (!has_uids(first_uids[i]))
			continue;
		any = true;
		if (!are_given(first_uids[i], e))
			h->first_uid = first_uids[i];
		else
			log_warn("another range of uids is tried for boxes", LOG_E(e));
	}
	return any && h->first_uid == 0 ? -1 : 0;
}

static pid_t
clone_with(uint64_t more)
{
	struct clone_args args = {
		.flags =
		    CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | more,
		.exit_signal = SIGCHLD,
	};

	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

static int
write_map(int proc, const char *name, const char *text, struct err *e)
{
	auto_fd int file = openat(proc, name, O_WRONLY | O_CLOEXEC);

	if (file < 0)
		return err_sys(e, "open %s", name);
	return write(file, text, strlen(text)) < 0 ? err_sys(e, "write %s", name) : 0;
}

int
host_map(int proc, uid_t inside, uid_t outside_uid, gid_t outside_gid, struct err *e)
{
	char uids[64], gids[64];

	snprintf(uids, sizeof uids, "%u %u 1", inside, outside_uid);
	snprintf(gids, sizeof gids, "%u %u 1", inside, outside_gid);
	return write_map(proc, "self/setgroups", "deny", e) < 0 ||
	               write_map(proc, "self/uid_map", uids, e) < 0 ||
	               write_map(proc, "self/gid_map", gids, e) < 0
	           ? -1
	           : 0;
}

static int
refuse(struct err *e)
{
	return err_set(e, ERR_isolation_unavailable,
	    "this user may not create namespaces (%s); allow user namespaces "
	    "(user.max_user_namespaces, kernel.unprivileged_userns_clone, AppArmor) or start as "
	    "root",
	    strerrordesc_np(errno));
}

/*
 * The process that the executor started.  It waits for the builder's end, whatever the cause, and
 * then does the remaining cleanup on the host.  It needs privileges only to remove directories in
 * cgroups that even root may not write to.
 */
static void
keep(pid_t builder, const struct host *h, void (*after)(void))
{
	static const int cap = CAP_DAC_OVERRIDE;
	struct err ignored;
	int status = 0;

	if (!h->mapped)
		caps_keep(&cap, 1, &ignored);
	if (h->joined)
		caps_drop_all(&ignored);
	while (waitpid(builder, &status, 0) < 0 && errno == EINTR)
		;
	after();
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* The kernel allows mapping root only with CAP_SETFCAP, and AppArmor may refuse it. */
static int
refuse_map(uid_t uid, struct err *e)
{
	return err_set(e, ERR_isolation_unavailable,
	    "uid %u may not be mapped into a user namespace (%s); %s", uid, strerrordesc_np(e->sys),
	    uid == 0 ? "root has too few capabilities here: start as an ordinary user"
		     : "allow \"userns\" for this program in AppArmor, or start as root");
}

/*
 * Mounts of an earlier builder belong to its user namespace, which this process joins.  The owner
 * of that namespace may do so.  The keeper, which stays behind in it, drops the privileges that
 * this gives.
 */
static void
join_kept(struct host *h)
{
	struct stat own, other;
	auto_fd int users =
	    h->workspace_table_fd < 0 ? -1 : ioctl(h->workspace_table_fd, NS_GET_USERNS);

	if (h->workspace_table_fd < 0)
		return;
	if (users >= 0 && fstat(users, &other) == 0 && stat("/proc/self/ns/user", &own) == 0) {
		h->joined = own.st_ino != other.st_ino;
		if (!h->joined || setns(users, CLONE_NEWUSER) == 0)
			return;
	}
	h->joined = false;
	close(take_fd(&h->workspace_table_fd));
}

static int
enter_namespaces(struct host *h, void (*after)(void), struct err *e)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	pid_t child = -1;

	h->mapped = uid != 0 || !has_capabilities(kept, COUNT(kept));
	if (!h->mapped && choose_uids(h, e) < 0)
		return -1;
	h->mapped = h->mapped || h->first_uid == 0;
	join_kept(h);
	h->mapped |= h->joined;
	if (!h->mapped || h->joined)
		child = clone_with(0);
	if (child < 0 && h->joined)
		return refuse(e);
	if (child < 0) {
		h->mapped = true;
		child = clone_with(CLONE_NEWUSER);
	}
	if (child < 0)
		return refuse(e);
	if (child > 0)
		keep(child, h, after);
	/* If that process is killed, nothing would clean up.  So this process is killed too. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return err_sys(e, "prctl");
	h->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (h->proc < 0)
		return err_sys(e, "open /proc");
	if (h->mapped && !h->joined && host_map(h->proc, HOST_INSIDE_ID, uid, gid, e) < 0)
		return refuse_map(uid, e);
	return 0;
}

int
host_enter(struct host *h, void (*after)(void), struct err *e)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	h->processors = processors > 0 ? (uint32_t)processors : 1;
	if (enter_namespaces(h, after, e) < 0)
		return -1;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_sys(e, "make mounts private");
	return 0;
}

int
host_note(struct host *h, struct err *e)
{
	struct stat st;

	for (int n = 0; n < HOST_NAMESPACES; n++) {
		if (fstatat(h->proc, namespaces[n], &st, 0) < 0)
			return err_sys(e, "stat /proc/%s", namespaces[n]);
		h->namespaces[n] = st.st_ino;
	}
	return 0;
}

unsigned
host_differs(const struct host *h)
{
	struct stat st;
	unsigned differ = 0;

	for (int n = 0; n < HOST_NAMESPACES; n++)
		if (fstatat(h->proc, namespaces[n], &st, 0) == 0 && st.st_ino != h->namespaces[n])
			differ |= 1u << n;
	return differ;
}

int
host_space(const struct host *h, enum host_namespace n, struct err *e)
{
	int fd = openat(h->proc, namespaces[n], O_RDONLY | O_CLOEXEC);

	return fd < 0 ? err_sys(e, "open /proc/%s", namespaces[n]) : fd;
}

uid_t
host_uid(const struct host *h, uint32_t workspace)
{
	if (h->mapped)
		return HOST_INSIDE_ID;
	return h->first_uid + h->slot * ORDER_MAX_LIVING + workspace - 1;
}

uid_t
host_nobody(const struct host *h)
{
	return h->first_uid + HOST_SLOTS * ORDER_MAX_LIVING + h->slot;
}

/* ---- less power ---- */

int
host_drop(const struct host *h, struct err *e)
{
	int caps[COUNT(kept) + COUNT(network)];
	size_t n = COUNT(kept);

	memcpy(caps, kept, sizeof kept);
	if (h->loopback && has_capabilities(network, COUNT(network))) {
		memcpy(caps + n, network, sizeof network);
		n += COUNT(network);
	}
	if (caps_keep(caps, n, e) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_sys(e, "prctl");
	return 0;
}
