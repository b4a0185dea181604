/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.c - moves a process of the builder into a box.
 *
 * Theory of operation.  There are two ways in.  The first process of a box (CONFINE_BOX) was
 * cloned into new mount, pid, ipc and uts namespaces, as pid 1, with a copy of the template's
 * mounts (root.c).  It makes the other namespaces and sends descriptors of all of them to the
 * builder.  A program was cloned into that pid namespace, by the builder or as a fork of a zygote,
 * and joins the others.  Both start with the builder's capabilities, and from here on only lose
 * privileges:
 *
 *   cgroup    joins the groups, then the cgroup namespace, so that it sees only its own; becomes
 *             the first choice of the host's OOM killer
 *   mounts    a box: replaces the builder's /proc by its own, mounts a devpts, moves /tmp and
 *             /workspace in
 *   user      changes to the workspace's uid on the host, then to a user namespace that maps it to
 *             1000; that namespace owns none of the others, so nothing can be mounted or set up
 *             from it; then drops all capabilities for good
 *   landlock  restricts the file system once more, by path; signals and abstract sockets cannot
 *             leave the domain
 *   limits    sets rlimits, without core dumps; after the last open(), because this process still
 *             has copies of all the builder's descriptors, which may exceed the guest's limit
 *   verify    reads all of this back from the kernel
 *   seccomp   last, because the steps above need calls that a guest does not have
 *
 * A layer that fails is noted with its errno; at the end layers.def decides whether the program may
 * run without it.  A step that fails as a whole ends the process.  The process is single-threaded
 * from clone on, so a layer cannot be missing on another thread.  Pid 1 of a box runs only init.c,
 * which reads no input, so it has no Landlock domain and keeps the builder's seccomp program: that
 * is one program less for the kernel to free (limits/pace.h has the reason).
 */
#include "executor/builder/confine/confine.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "executor/builder/confine/caps.h"
#include "executor/builder/confine/guest_landlock.h"
#include "executor/builder/confine/proc_files.h"
#include "executor/builder/confine/rlimits.h"
#include "executor/guest/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	REPORT = GUEST_CONTROL_FD + 1,
};

/* What is known of the layers so far.  Errors in this struct end the box. */
struct entry {
	const struct confine *confine;
	struct confine_report report;
	int null; /* /dev/null */
	int tell; /* socket for the report */
};

static void
hold(struct entry *in, enum layer layer)
{
	in->report.layers.in_force |= 1ull << layer;
}

static void
miss(struct entry *in, enum layer layer)
{
	in->report.layers.why[layer] = (uint8_t)errno;
}

static bool
is_file_helper(const struct entry *in)
{
	return in->confine->kind == CONFINE_FILE_HELPER;
}

static bool
is_box(const struct entry *in)
{
	return in->confine->kind == CONFINE_BOX;
}

/* Returns 0 also if there is no namespace to join. */
static int
join(const struct entry *in, enum host_namespace n, int type, struct err *e)
{
	int space = in->confine->spaces[n];

	return space < 0 || setns(space, type) == 0
	           ? 0
	           : err_sys(e, "join namespace 0x%x", (unsigned)type);
}

/* ---- cgroup ---- */

static int
write_proc(const struct host *host, const char *name, const char *text, struct err *e)
{
	auto_fd int file = openat(host->proc, name, O_WRONLY | O_CLOEXEC);

	if (file < 0 || write(file, text, strlen(text)) < 0)
		return err_sys(e, "write /proc/%s", name);
	return 0;
}

static int
enter_cgroup(struct entry *in, struct err *e)
{
	const struct cgroup *group = in->confine->group;

	if (write_proc(in->confine->host, "self/oom_score_adj", "1000", e) < 0 ||
	    write_proc(in->confine->host, "self/coredump_filter", "0", e) < 0)
		return -1;
	if (group == NULL)
		return 0;
	if (cgroup_join(group, e) < 0)
		return -1;
	in->report.layers.in_force |= group->in_force;
	in->report.layers.wanted |= group->wanted | 1ull << LAYER_cgroup_namespace;
	memcpy(in->report.layers.why, group->why, sizeof group->why);
	if (!is_box(in))
		return join(in, HOST_CGROUP, CLONE_NEWCGROUP, e);
	if (unshare(CLONE_NEWCGROUP) < 0)
		miss(in, LAYER_cgroup_namespace);
	return 0;
}

/* ---- mounts ---- */

/* A /proc that shows only processes that the reader could trace.  subset "pid": and nothing but
 * processes; NULL: *context can set that later. */
static int
make_proc(const char *subset, int *context)
{
	*context = fsopen("proc", FSOPEN_CLOEXEC);

	if (*context < 0 ||
	    (subset != NULL && fsconfig(*context, FSCONFIG_SET_STRING, "subset", subset, 0) < 0) ||
	    fsconfig(*context, FSCONFIG_SET_STRING, "hidepid", "invisible", 0) < 0 ||
	    fsconfig(*context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return fsmount(*context, FSMOUNT_CLOEXEC,
	    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

/*
 * With subset=pid the kernel finds no other name below /proc, unless a mount is on it.  So a
 * complete /proc gets the box's own files, and then that option.  Without the files programs only
 * lack them.
 */
static int
finish_proc(const struct entry *in, int context)
{
	struct err ignored;

	proc_files_mount(in->confine->host, in->confine->order, &ignored);
	if (fsconfig(context, FSCONFIG_SET_STRING, "subset", "pid", 0) < 0 ||
	    fsconfig(context, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
		return -1;
	errno = EEXIST;
	return access("/proc/sys", F_OK) < 0 && access("/proc/version", F_OK) < 0 ? 0 : -1;
}

static int
place_proc(struct entry *in, int proc, int context, struct err *e)
{
	if (move_mount(proc, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mount /proc");
	if (context < 0 || finish_proc(in, context) == 0) {
		hold(in, LAYER_private_proc);
		return 0;
	}
	miss(in, LAYER_private_proc);
	return umount2("/proc", MNT_DETACH) < 0 ? err_sys(e, "unmount /proc") : 0;
}

/* Both kinds must be made while the builder's /proc is there.  The kernel allows a complete one
 * only to root, or if that is not masked. */
static int
change_proc(struct entry *in, struct err *e)
{
	auto_fd int complete = -1;
	auto_fd int small = -1;
	auto_fd int proc = is_file_helper(in) ? -1 : make_proc(NULL, &complete);
	bool is_complete = proc >= 0;

	if (proc < 0 && !is_file_helper(in))
		proc = make_proc("pid", &small);
	if (proc < 0)
		miss(in, LAYER_private_proc);
	/* EINVAL: the template has none. */
	if (umount2("/proc", MNT_DETACH) < 0 && errno != EINVAL)
		return err_sys(e, "unmount the builder's /proc");
	return proc < 0 ? 0 : place_proc(in, proc, is_complete ? complete : -1, e);
}

/*
 * Each mount of devpts is an instance of its own.  The limit is needed because the kernel counts
 * pseudo-terminals for the whole machine (kernel.pty.max).  The device nodes must work, so it
 * cannot be mounted with nodev.
 */
static int
mount_terminals(struct err *e)
{
	auto_fd int context = fsopen("devpts", FSOPEN_CLOEXEC);
	auto_fd int mount = -1;

	if (context >= 0 && fsconfig(context, FSCONFIG_SET_STRING, "ptmxmode", "0666", 0) == 0 &&
	    fsconfig(context, FSCONFIG_SET_STRING, "mode", "0620", 0) == 0 &&
	    fsconfig(context, FSCONFIG_SET_STRING, "max", CONFINE_MAX_TERMINALS, 0) == 0 &&
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	if (mount < 0 || move_mount(mount, "", AT_FDCWD, "/dev/pts", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mount /dev/pts");
	return 0;
}

static int
fill_mounts(struct entry *in, struct err *e)
{
	const struct confine *c = in->confine;

	if (change_proc(in, e) < 0 || (!is_file_helper(in) && mount_terminals(e) < 0))
		return -1;
	if (c->tmp >= 0 && move_mount(c->tmp, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mount /tmp");
	if (move_mount(c->workspace, "", AT_FDCWD, "/workspace", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mount /workspace");
	return sethostname("cloister", strlen("cloister")) < 0 ? err_sys(e, "sethostname") : 0;
}

/* The last of these joins also changes the root. */
static int
join_mounts(struct entry *in, struct err *e)
{
	return join(in, HOST_IPC, CLONE_NEWIPC, e) < 0 || join(in, HOST_UTS, CLONE_NEWUTS, e) < 0 ||
	               join(in, HOST_MNT, CLONE_NEWNS, e) < 0
	           ? -1
	           : 0;
}

static int
enter_mounts(struct entry *in, struct err *e)
{
	if (!is_file_helper(in))
		in->report.layers.wanted |= 1ull << LAYER_private_proc | 1ull << LAYER_private_tmp;
	if (join(in, HOST_NET, CLONE_NEWNET, e) < 0 ||
	    (in->confine->kind == CONFINE_PROGRAM ? join_mounts(in, e) : fill_mounts(in, e)) < 0)
		return -1;
	in->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	return in->null < 0 ? err_sys(e, "open /dev/null") : 0;
}

/* ---- user ---- */

/* Without SETUID_FIXUP the capabilities stay.  They are still needed, because only root may be
 * allowed to make a user namespace. */
static int
take_uid(struct entry *in, struct err *e)
{
	uid_t uid = host_uid(in->confine->host, in->confine->order->workspace);

	if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) < 0)
		return err_sys(e, "set securebits");
	if (setgroups(0, NULL) < 0)
		miss(in, LAYER_no_groups);
	if (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
		return err_sys(e, "change to uid %u", uid);
	if (in->confine->kind == CONFINE_PROGRAM) {
		errno = ENOENT;
		if (in->confine->spaces[HOST_USER] < 0)
			miss(in, LAYER_user_namespace);
		return join(in, HOST_USER, CLONE_NEWUSER, e);
	}
	if (unshare(CLONE_NEWUSER) < 0) {
		miss(in, LAYER_user_namespace);
		return 0;
	}
	/* The change of uid reset it. */
	if (prctl(PR_SET_DUMPABLE, 1) < 0)
		return err_sys(e, "prctl");
	return host_map(in->confine->host->proc, HOST_INSIDE_ID, uid, uid, e);
}

/* Done while /proc/self is this process's own: sends the namespaces to the builder, for
 * processes that join. */
static int
hand_out(struct entry *in, struct err *e)
{
	struct confine_report report = { .said = CONFINE_SPACES };
	int spaces[HOST_NAMESPACES];
	size_t n = 0;
	unsigned differ = host_differs(in->confine->host) & ~(1u << HOST_NET);
	int r = 0;

	for (int h = 0; r == 0 && h < HOST_NAMESPACES; h++) {
		if ((differ & 1u << h) == 0)
			continue;
		spaces[n] = host_space(in->confine->host, (enum host_namespace)h, e);
		r = spaces[n] < 0 ? -1 : 0;
		n += r == 0;
	}
	report.spaces = differ;
	if (r == 0 && fdio_send(in->tell, &report, sizeof report, spaces, n) < 0)
		r = err_sys(e, "send the namespaces");
	while (n > 0)
		close(spaces[--n]);
	return r;
}

static int
enter_user(struct entry *in, struct err *e)
{
	if (take_uid(in, e) < 0 || (is_box(in) && hand_out(in, e) < 0) || caps_drop_all(e) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_sys(e, "prctl");
	setsid();
	/* A zygote's fork keeps the handlers that its interpreter set. */
	for (int s = 1; !in->confine->forked && s < NSIG; s++)
		signal(s, SIG_DFL);
	/* No other uid may enter it. */
	return chdir("/workspace") < 0 ? err_sys(e, "enter /workspace") : 0;
}

/* ---- landlock ---- */

static int
enter_landlock(struct entry *in, struct err *e)
{
	bool scopes = false;
	if (is_box(in))
		return 0;

	bool helper = is_file_helper(in);
	int r = guest_landlock_enter(helper, in->confine->host->loopback && !helper, &scopes, e);

	if (r < 0) {
		errno = e->sys;
		miss(in, LAYER_landlock);
		miss(in, LAYER_landlock_scopes);
		return 0;
	}
	hold(in, LAYER_landlock);
	errno = EOPNOTSUPP;
	scopes ? hold(in, LAYER_landlock_scopes) : miss(in, LAYER_landlock_scopes);
	return 0;
}

/* ---- limits ---- */

/* Done in the new user namespace: a user namespace that is made under a limit applies the limit
 * to all processes of its maker's user. */
static int
enter_limits(struct entry *in, struct err *e)
{
	const struct confine *c = in->confine;

	if (rlimits_enter(c->host, c->order, is_file_helper(in), e) < 0)
		return -1;
	if (c->kind == CONFINE_PROGRAM && rlimits_share(c->host, c->order, c->group, e) < 0)
		return -1;
	hold(in, LAYER_rlimits);
	/* In its own user namespace, RLIMIT_NPROC counts only this box. */
	if (c->host->limits_by == LIMITS_RLIMIT && in->report.layers.why[LAYER_user_namespace] == 0)
		hold(in, LAYER_process_limit);
	umask(022);
	return 0;
}

/* ---- verify ---- */

/* True if the process does not have the host's uid and cannot get it. */
static bool
has_own_uid(const struct entry *in)
{
	uid_t r, e, s, want = HOST_INSIDE_ID;

	if (in->report.layers.why[LAYER_user_namespace] != 0)
		want = host_uid(in->confine->host, in->confine->order->workspace);
	return !in->confine->host->mapped && getresuid(&r, &e, &s) == 0 && r == want && e == want &&
	       s == want && setresuid(0, 0, 0) < 0 && setresgid(0, 0, 0) < 0;
}

static bool
is_read_only(const char *path)
{
	struct statvfs st;

	return statvfs(path, &st) == 0 && (st.f_flag & ST_RDONLY) != 0;
}

static bool
is_mount(const char *path)
{
	struct stat root, there;

	return stat("/", &root) == 0 && stat(path, &there) == 0 && root.st_dev != there.st_dev;
}

static const struct {
	enum host_namespace namespace;
	enum layer layer;
} namespaces[] = {
	{ HOST_MNT, LAYER_mount_namespace },
	{ HOST_PID, LAYER_pid_namespace },
	{ HOST_NET, LAYER_network_namespace },
	{ HOST_IPC, LAYER_ipc_namespace },
	{ HOST_UTS, LAYER_uts_namespace },
	{ HOST_USER, LAYER_user_namespace },
	{ HOST_CGROUP, LAYER_cgroup_namespace },
};

static void
look(struct entry *in)
{
	unsigned differ = host_differs(in->confine->host);
	const struct {
		enum layer layer;
		bool there;
	} seen[] = {
		{ LAYER_read_only_root, is_read_only("/") && is_read_only("/usr") },
		{ LAYER_private_tmp, is_mount("/tmp") },
		{ LAYER_private_proc, is_mount("/proc") },
		{ LAYER_own_uid, has_own_uid(in) },
		{ LAYER_no_groups, getgroups(0, NULL) == 0 },
		{ LAYER_no_capabilities, caps_none() },
		{ LAYER_no_new_privs, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 },
	};

	for (size_t i = 0; i < COUNT(namespaces); i++)
		if ((differ & 1u << namespaces[i].namespace) != 0)
			hold(in, namespaces[i].layer);
	for (size_t i = 0; i < COUNT(seen); i++)
		if (seen[i].there)
			hold(in, seen[i].layer);
	if (in->confine->host->mapped)
		in->report.layers.why[LAYER_own_uid] = EPERM;
	if (in->confine->host->loopback && in->confine->host->loopback_errno == 0)
		hold(in, LAYER_own_loopback);
	in->report.layers.why[LAYER_own_loopback] = in->confine->host->loopback_errno;
}

/* A file helper runs no foreign code.  So it shares the builder's empty network.  It need not be
 * inside its cgroup, which only accounts for the files that it writes. */
static uint64_t
wanted(const struct entry *in)
{
	uint64_t all = (1ull << LAYER_COUNT) - 1;
	uint64_t by_group = 1ull << LAYER_memory_limit | 1ull << LAYER_process_limit |
	                    1ull << LAYER_cpu_limit | 1ull << LAYER_cgroup_namespace;

	if (is_file_helper(in) || !in->confine->host->loopback)
		all &= ~(1ull << LAYER_own_loopback);
	if (!is_file_helper(in))
		return (all & ~by_group) | in->report.layers.wanted;
	return all & ~by_group &
	       ~(1ull << LAYER_network_namespace | 1ull << LAYER_private_proc |
		   1ull << LAYER_private_tmp);
}

/* A layer that the host has can be missing only because a resource ran out, and a guest may have
 * caused that. */
static int
verify(struct entry *in, struct err *e)
{
	struct layers *layers = &in->report.layers;

	if (prctl(PR_GET_DUMPABLE) != 0)
		return err_set(e, ERR_isolation_unavailable,
		    "the new process is dumpable, so it could be traced");
	if (is_box(in))
		return 0;
	look(in);
	layers->wanted = wanted(in);
	layers->limits_by = in->confine->host->limits_by;
	for (int l = 0; l < LAYER_COUNT; l++) {
		uint64_t bit = 1ull << l;
		bool due = (in->confine->due & bit) != 0;

		if ((layers->wanted & ~layers->in_force & bit) == 0 || l == LAYER_seccomp)
			continue;
		if (due || layer_needed((enum layer)l))
			return err_set(e, due ? ERR_unavailable : ERR_isolation_unavailable,
			    "this host %s: %s (%s)", due ? "has not just now" : "cannot give",
			    layer_name((enum layer)l), strerrordesc_np(layers->why[l]));
	}
	return 0;
}

/* ---- seccomp ---- */

/* The targets are below all descriptors opened since the builder started.  So none is
 * overwritten before it is copied. */
static int
arrange(struct entry *in, struct err *e)
{
	const struct confine *c = in->confine;
	bool program = c->kind == CONFINE_PROGRAM;
	int control = is_box(in) ? in->null : c->fds[program ? 2 : 0];

	if (dup2(in->null, 0) < 0 || dup2(program ? c->fds[0] : in->null, 1) < 0 ||
	    dup2(program ? c->fds[1] : in->null, 2) < 0 || dup2(control, GUEST_CONTROL_FD) < 0 ||
	    dup2(c->report, REPORT) < 0)
		return err_sys(e, "arrange descriptors");
	in->tell = REPORT;
	return close_range(REPORT + 1, ~0u, 0) < 0 ? err_sys(e, "close descriptors") : 0;
}

/*
 * A program may read its own files in /proc, so it must be dumpable: exec makes it dumpable, and a
 * fork is made so here.  So no layer reports otherwise.  Another program of the same session has
 * the same uid.  It cannot trace this one: it has neither ptrace(2) nor a writable /proc, and if
 * the kernel has Landlock, each program has its own domain.
 */
static int
enter_seccomp(struct entry *in, struct err *e)
{
	if (in->confine->forked && prctl(PR_SET_DUMPABLE, 1) < 0)
		return err_sys(e, "prctl");
	if (arrange(in, e) < 0)
		return -1;
	if (is_box(in))
		return 0;
	if (filter_load(in->confine->filter, e) < 0)
		return -1;
	/* The builder's own program, which all processes inherit, allows this call; no guest's
	 * program does. */
	if (setns(-1, 0) == 0 || errno != EPERM)
		return err_set(e, ERR_isolation_unavailable, "no seccomp program is in force");
	hold(in, LAYER_seccomp);
	return 0;
}

/* ---- all of it ---- */

static int (*const steps[STEP_COUNT])(struct entry *, struct err *) = {
	[STEP_cgroup] = enter_cgroup,
	[STEP_mounts] = enter_mounts,
	[STEP_user] = enter_user,
	[STEP_landlock] = enter_landlock,
	[STEP_limits] = enter_limits,
	[STEP_verify] = verify,
	[STEP_seccomp] = enter_seccomp,
};

static int64_t
now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int
enter(struct entry *in, struct err *e)
{
	int64_t before = now_us(), after;

	/* Its files in /proc belong to it only while it is dumpable, and its parent is not. */
	if (prctl(PR_SET_DUMPABLE, 1) < 0)
		return err_sys(e, "prctl");
	for (int s = STEP_cgroup; s < STEP_COUNT; s++, before = after) {
		in->report.step = (uint32_t)s;
		if (steps[s](in, e) < 0)
			return err_add(e, "%s", step_name((enum step)s));
		after = now_us();
		in->report.step_us[s] = (uint32_t)(after - before);
	}
	return 0;
}

void
confine_enter(const struct confine *c)
{
	struct entry in = { .confine = c, .report = { .said = CONFINE_READY }, .tell = c->report };
	struct err e;
	bool ready = enter(&in, &e) == 0;

	if (!ready)
		in.report.error = e;
	if (fdio_send(in.tell, &in.report, sizeof in.report, NULL, 0) !=
		(ssize_t)sizeof in.report ||
	    !ready || close(REPORT) < 0)
		_exit(1);
}
