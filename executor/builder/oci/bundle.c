/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.c - makes a bundle: config.json from a template with numbers, and a root for the
 * container that is the box's root.
 *
 * The commands of the operator's runtimes are the only foreign text; a word that would need
 * quoting is refused.  Trusts the mounts of the box, because no guest can change them.
 */
#include "executor/builder/oci/bundle.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "executor/builder/confine/confine.h"
#include "executor/builder/containers.h"
#include "executor/builder/launch/environment.h"
#include "executor/builder/runtimes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
	MAX_CONFIG = 32768,
	MIB = 1 << 20,
};

/* ---- config.json ---- */

struct text {
	char data[MAX_CONFIG];
	size_t size;
	bool bad; /* the text did not fit, or needed quoting */
};

static void __attribute__((format(printf, 2, 3))) put(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int n = vsnprintf(t->data + t->size, sizeof t->data - t->size, format, args);

	va_end(args);
	if (n < 0 || (size_t)n >= sizeof t->data - t->size)
		t->bad = true;
	else
		t->size += (size_t)n;
}

static void
put_word(struct text *t, const char *before, const char *word)
{
	for (const char *c = word; *c != '\0'; c++)
		t->bad = t->bad || (unsigned char)*c < ' ' || *c == '"' || *c == '\\';
	put(t, "%s\"%s\"", before, word);
}

/* A container has no /user/base (user_base.h), so pip takes its own default there. */
static void
put_environment(struct text *t, const char *const *environment)
{
	static const char user_base[] = "PYTHONUSERBASE=";
	const char *before = "";

	for (size_t i = 0; environment[i] != NULL; i++) {
		if (strncmp(environment[i], user_base, sizeof user_base - 1) == 0)
			continue;
		put_word(t, before, environment[i]);
		before = ",";
	}
}

static void
put_process(struct text *t, const struct bundle *b)
{
	char control[8];

	snprintf(control, sizeof control, "%d", b->control);
	put(t, "\"process\":{\"user\":{\"uid\":%d,\"gid\":%d},\"cwd\":\"/workspace\",\"args\":[",
	    HOST_INSIDE_ID, HOST_INSIDE_ID);
	put_word(t, "", BUNDLE_INIT);
	put_word(t, ",", control);
	put_word(t, ",", b->extension != NULL ? b->extension : "");
	for (size_t i = 0; b->argv[i] != NULL; i++)
		put_word(t, ",", b->argv[i]);
	put(t, "],\"env\":[");
	put_environment(t, environment_make(b->order->cpu_milli,
			       runtimes_python(b->order->environment), b->variable));
	put(t, "],\"noNewPrivileges\":true,\"oomScoreAdj\":1000,\"capabilities\":{\"bounding\":[],"
	       "\"effective\":[],\"permitted\":[],\"inheritable\":[],\"ambient\":[]},");
}

/* The same limits as in rlimits.c. */
static void
put_rlimits(struct text *t, const struct order *o)
{
	const struct {
		const char *type;
		uint64_t soft, hard;
	} limits[] = {
		{ "CORE", 1, 1 },
		{ "FSIZE", 65536ull * MIB, 65536ull * MIB },
		{ "MEMLOCK", MIB, MIB },
		{ "MSGQUEUE", 0, 0 },
		{ "NOFILE", o->open_files, o->open_files },
		{ "NPROC", o->processes + 8, o->processes + 8 },
		{ "RTPRIO", 0, 0 },
		{ "SIGPENDING", 1024, 1024 },
		{ "STACK", 8 * MIB, 64 * MIB },
	};

	put(t, "\"rlimits\":[");
	for (size_t i = 0; i < COUNT(limits); i++)
		put(t, "%s{\"type\":\"RLIMIT_%s\",\"soft\":%" PRIu64 ",\"hard\":%" PRIu64 "}",
		    i > 0 ? "," : "", limits[i].type, limits[i].soft, limits[i].hard);
	put(t, "]},");
}

/* runsc makes its own /dev, and a bind mount on it is not visible there. */
static void
put_mounts(struct text *t, const struct order *o)
{
	static const char binds[] =
	    "{\"destination\":\"%s\",\"type\":\"bind\",\"source\":\"%s\",\"options\":"
	    "[\"bind\",\"rw\",\"nosuid\",\"nodev\"]}";

	put(t,
	    "\"root\":{\"path\":\"rootfs\",\"readonly\":true},\"hostname\":\"cloister\","
	    "\"mounts\":[{\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\","
	    "\"options\":[\"nosuid\",\"noexec\",\"nodev\"%s]},"
	    "{\"destination\":\"/dev\",\"type\":\"tmpfs\",\"source\":\"tmpfs\",\"options\":"
	    "[\"nosuid\",\"noexec\",\"mode=755\",\"size=64k\",\"nr_inodes=64\"]},",
	    o->container == CONTAINER_runsc ? "" : ",\"subset=pid\"");
	put(t,
	    "{\"destination\":\"/dev/pts\",\"type\":\"devpts\",\"source\":\"devpts\",\"options\":"
	    "[\"nosuid\",\"noexec\",\"newinstance\",\"ptmxmode=0666\",\"mode=0620\","
	    "\"max=" CONFINE_MAX_TERMINALS "\"]},");
	put(t, binds, "/tmp", "/tmp");
	put(t, ",");
	if (o->container == CONTAINER_runsc)
		put(t,
		    "{\"destination\":\"/dev/"
		    "shm\",\"type\":\"tmpfs\",\"source\":\"tmpfs\",\"options\":"
		    "[\"nosuid\",\"nodev\",\"noexec\",\"mode=1777\",\"size=%" PRIu64 "\"]}",
		    o->tmp_bytes);
	else
		put(t, binds, "/dev/shm", "/tmp");
	put(t, ",");
	put(t, binds, "/workspace", "/workspace");
	put(t, "],");
}

static void
put_map(struct text *t, const char *name, const struct bundle *b)
{
	put(t, "\"%s\":[", name);
	if (!b->host->mapped)
		put(t, "{\"containerID\":0,\"hostID\":%u,\"size\":1},", host_nobody(b->host));
	put(t, "{\"containerID\":%d,\"hostID\":%u,\"size\":1}],", HOST_INSIDE_ID,
	    host_uid(b->host, b->order->workspace));
}

/* No network namespace: the box already has its own empty one. */
static void
put_linux(struct text *t, const struct bundle *b)
{
	put(t,
	    "\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"ipc\"},{\"type\":\"uts\"},"
	    "{\"type\":\"mount\"},{\"type\":\"user\"}],");
	put_map(t, "uidMappings", b);
	put_map(t, "gidMappings", b);
	put(t, "\"maskedPaths\":[\"/proc/acpi\",\"/proc/asound\",\"/proc/bus\",\"/proc/cgroups\","
	       "\"/proc/cmdline\",\"/proc/config.gz\",\"/proc/consoles\",\"/proc/devices\","
	       "\"/proc/diskstats\",\"/proc/driver\",\"/proc/execdomains\",\"/proc/fs\","
	       "\"/proc/interrupts\",\"/proc/iomem\",\"/proc/ioports\",\"/proc/irq\","
	       "\"/proc/kallsyms\",\"/proc/kcore\",\"/proc/key-users\",\"/proc/keys\","
	       "\"/proc/kmsg\",\"/proc/kpagecgroup\",\"/proc/kpagecount\",\"/proc/kpageflags\","
	       "\"/proc/latency_stats\",\"/proc/locks\",\"/proc/modules\",\"/proc/mtrr\","
	       "\"/proc/partitions\",\"/proc/pressure\",\"/proc/sched_debug\",\"/proc/schedstat\","
	       "\"/proc/scsi\",\"/proc/slabinfo\",\"/proc/softirqs\",\"/proc/swaps\","
	       "\"/proc/sysrq-trigger\",\"/proc/timer_list\",\"/proc/timer_stats\",\"/proc/tty\","
	       "\"/proc/vmallocinfo\",\"/proc/vmstat\",\"/proc/zoneinfo\"],"
	       "\"readonlyPaths\":[\"/proc/sys\"]}");
}

static int
write_config(const struct bundle *b, struct err *e)
{
	static struct text t; /* static, because the process runs this once */
	auto_fd int file =
	    open(BUNDLE "/config.json", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (file < 0)
		return err_sys(e, "make config.json");
	put(&t, "{\"ociVersion\":\"1.0.0\",");
	put_process(&t, b);
	put_rlimits(&t, b->order);
	put_mounts(&t, b->order);
	put_linux(&t, b);
	put(&t, "}\n");
	if (t.bad)
		return err_set(e, ERR_isolation_unavailable,
		    "use_container: a word of this language's command cannot be in config.json");
	return fdio_write(file, t.data, t.size, e);
}

/* ---- mounts ---- */

static int
put_on(const char *type, const char *path, unsigned attributes, struct err *e)
{
	auto_fd int context = fsopen(type, FSOPEN_CLOEXEC);

	if (context < 0 || fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_sys(e, "make a %s", type);
	auto_fd int mount =
	    fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | attributes);

	if (mount < 0 || move_mount(mount, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mount a %s on %s", type, path);
	return 0;
}

static int
make_directories(struct err *e)
{
	static const char *const directories[] = { BUNDLE_SANDBOX "/dev", "/sys/fs",
		"/sys/fs/cgroup", BUNDLE, BUNDLE_STATE, BUNDLE "/rootfs" };

	for (size_t i = 0; i < COUNT(directories); i++)
		if (mkdir(directories[i], 0755) < 0)
			return err_sys(e, "make %s", directories[i]);
	return 0;
}

/* runc does not start if it sees no cgroups.  It can read this hierarchy and cannot write to it. */
static void
show_cgroups(void)
{
	struct err ignored;

	put_on("cgroup2", "/sys/fs/cgroup", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, &ignored);
}

/* Mounts it on a file that is made for it. */
static int
show_device(const char *name, const char *device, struct err *e)
{
	auto_fd int tree = open_tree(AT_FDCWD, device, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	auto_fd int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (tree < 0 || file < 0 ||
	    move_mount(tree, "", file, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_sys(e, "show %s as %s", device, name);
	return 0;
}

/* The devices that the specification lists and that runtimes bind. */
static int
show_devices(struct err *e)
{
	static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
		"/dev/urandom", "/dev/tty" };
	char name[64];

	for (size_t i = 0; i < COUNT(devices); i++) {
		snprintf(name, sizeof name, BUNDLE_SANDBOX "%s", devices[i]);
		if (show_device(name, devices[i], e) < 0)
			return -1;
	}

	auto_fd int all = open_tree(
	    AT_FDCWD, BUNDLE_SANDBOX "/dev", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	if (all < 0 || move_mount(all, "", AT_FDCWD, "/dev", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mount /dev");
	return 0;
}

/*
 * The box's root, before anything is mounted over it.  runsc remounts it read-only and would drop
 * nosuid and nodev, which the kernel does not allow in a user namespace.  Programs in gVisor never
 * see this mount.
 */
static int
lay_root(int root, uint32_t container, struct err *e)
{
	struct mount_attr plain = { .attr_clr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };

	if (container == CONTAINER_runsc &&
	    mount_setattr(root, "", AT_EMPTY_PATH, &plain, sizeof plain) < 0)
		return err_sys(e, "change the root");
	if (move_mount(root, "", AT_FDCWD, BUNDLE "/rootfs", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "bind the root");
	if (umount2(BUNDLE "/rootfs/proc", MNT_DETACH) < 0 && errno != EINVAL)
		return err_sys(e, "unmount /proc");
	return 0;
}

int
bundle_make(const struct bundle *b, struct err *e)
{
	auto_fd int root =
	    open_tree(AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	if (root < 0)
		return err_sys(e, "copy the root");
	if (put_on("tmpfs", "/run", 0, e) < 0 || put_on("tmpfs", "/sys", 0, e) < 0 ||
	    put_on("proc", "/proc", MOUNT_ATTR_NOEXEC, e) < 0 || make_directories(e) < 0)
		return -1;
	show_cgroups();
	return show_devices(e) < 0 || lay_root(root, b->order->container, e) < 0
	           ? -1
	           : write_config(b, e);
}
