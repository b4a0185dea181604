/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look.c - reads the layers of a container back from /proc.  Trusts the kernel, and no statement
 * of the runtime.
 *
 * In both kinds the seccomp program is loaded last: container_init.c loads the language's as pid 1
 * of the container, runsc's sandbox loads its own.  A process that has one is ready to be read.
 */
#include "executor/builder/oci/look.h"

#include "common/base/auto.h"
#include "executor/builder/containers.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_FILE = 16384,
	SANDBOX_ARGS = 64, /* bytes of a command line: enough for its first word */
};

struct file {
	char text[MAX_FILE];
};

/* Reads the first bytes of a file.  The text is empty if the file cannot be read. */
static bool
load(int proc, const char *pid, const char *name, struct file *file)
{
	char path[NAME_MAX + 16];

	snprintf(path, sizeof path, "%s/%s", pid, name);
	auto_fd int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	size_t size = 0;

	for (ssize_t n = 1; fd >= 0 && n > 0 && size < sizeof file->text - 1; size += (size_t)n)
		n = read(fd, file->text + size, sizeof file->text - 1 - size);
	file->text[size < sizeof file->text ? size : 0] = '\0';
	return size > 0;
}

/* Returns the value of a field in a status file, or "" if it has none. */
static const char *
value(const struct file *status, const char *name)
{
	const char *at = strstr(status->text, name);

	return at != NULL ? at + strlen(name) + strspn(at + strlen(name), "\t ") : "";
}

static bool
all_are(const char *numbers, unsigned long want, int base)
{
	char *end;

	for (; *numbers != '\n' && *numbers != '\0'; numbers = end + strspn(end, "\t "))
		if (strtoul(numbers, &end, base) != want || end == numbers)
			return false;
	return true;
}

static bool
has_no_capabilities(const struct file *status)
{
	static const char *const sets[] = {
		"\nCapInh:", "\nCapPrm:", "\nCapEff:", "\nCapBnd:", "\nCapAmb:"
	};

	for (size_t i = 0; i < COUNT(sets); i++)
		if (*value(status, sets[i]) == '\0' || !all_are(value(status, sets[i]), 0, 16))
			return false;
	return true;
}

/* Returns the beginning of a field in a line, counted from 0. */
static const char *
field(const char *line, unsigned number)
{
	for (; number > 0; number--) {
		line += strcspn(line, " \n");
		line += *line == ' ';
	}
	return line;
}

/* Options of the last mount on that path, or "" if there is none. */
static const char *
mount_options(const struct file *mounts, const char *path)
{
	const char *found = "", *end;
	size_t size = strlen(path);

	for (const char *line = mounts->text; *line != '\0'; line = end + (*end == '\n')) {
		const char *point = field(line, 4);

		end = line + strcspn(line, "\n");
		if (strncmp(point, path, size) == 0 && point[size] == ' ')
			found = point + size + 1;
	}
	return found;
}

/* ---- which process it is ---- */

static int
count_filters(const struct file *status)
{
	return (int)strtol(value(status, "\nSeccomp_filters:"), NULL, 10);
}

int
look_own_filters(int proc)
{
	struct file status;

	return load(proc, "self", "status", &status) ? count_filters(&status) : 0;
}

/* True if its pid in the innermost namespace is 1, and that namespace is not the box's. */
static bool
is_container(const struct file *status)
{
	const char *pids = value(status, "\nNSpid:");
	size_t first = strcspn(pids, "\t\n"), second = strcspn(pids + first, "\n");

	return second >= 2 && strncmp(pids + first + second - 2, "\t1", 2) == 0;
}

static bool
is_sandbox(int proc, const char *pid)
{
	struct file line;

	return load(proc, pid, "cmdline", &line) && strcmp(line.text, "runsc-sandbox") == 0;
}

static bool
is_ours(const struct look *look, const struct file *status)
{
	pid_t parent = (pid_t)strtol(value(status, "\nPPid:"), NULL, 10);

	return parent == look->parents[0] || parent == look->parents[1];
}

static bool
is_it(const struct look *look, const char *pid, struct file *status)
{
	if (!load(look->proc, pid, "status", status) || !is_ours(look, status) ||
	    count_filters(status) <= look->own_filters)
		return false;
	return look->order->container == CONTAINER_runsc ? is_sandbox(look->proc, pid)
	                                                 : is_container(status);
}

/* ---- its layers ---- */

static const struct {
	const char *name;
	enum host_namespace which;
	enum layer layer;
} namespaces[] = {
	{ "mnt", HOST_MNT, LAYER_mount_namespace },
	{ "pid", HOST_PID, LAYER_pid_namespace },
	{ "net", HOST_NET, LAYER_network_namespace },
	{ "ipc", HOST_IPC, LAYER_ipc_namespace },
	{ "uts", HOST_UTS, LAYER_uts_namespace },
	{ "user", HOST_USER, LAYER_user_namespace },
	{ "cgroup", HOST_CGROUP, LAYER_cgroup_namespace },
};

static uint64_t
namespaces_of(const struct look *look, const char *pid)
{
	uint64_t layers = 0;
	struct stat st;
	char path[NAME_MAX + 16];

	for (size_t i = 0; i < COUNT(namespaces); i++) {
		snprintf(path, sizeof path, "%s/ns/%s", pid, namespaces[i].name);
		if (fstatat(look->proc, path, &st, 0) == 0 &&
		    st.st_ino != look->host->namespaces[namespaces[i].which])
			layers |= 1ull << namespaces[i].layer;
	}
	return layers;
}

static bool
has_rlimits(const struct look *look, const char *pid)
{
	struct rlimit files = { 0 }, core = { 0 };
	pid_t number = (pid_t)strtol(pid, NULL, 10);

	return prlimit(number, RLIMIT_NOFILE, NULL, &files) == 0 &&
	       prlimit(number, RLIMIT_CORE, NULL, &core) == 0 &&
	       files.rlim_max == look->order->open_files && core.rlim_max == 1;
}

static uint64_t
mounts_of(const struct look *look, const char *pid)
{
	struct file mounts;
	uint64_t layers = 0;

	if (!load(look->proc, pid, "mountinfo", &mounts))
		return 0;
	if (strncmp(mount_options(&mounts, "/"), "ro", 2) == 0)
		layers |= 1ull << LAYER_read_only_root;
	if (*mount_options(&mounts, "/tmp") != '\0')
		layers |= 1ull << LAYER_private_tmp;
	if (*mount_options(&mounts, "/proc") != '\0')
		layers |= 1ull << LAYER_private_proc;
	return layers;
}

static uint64_t
user_of(const struct look *look, const struct file *status)
{
	uid_t uid = host_uid(look->host, look->order->workspace);
	uint64_t layers = 0;

	if (!look->host->mapped && all_are(value(status, "\nUid:"), uid, 10))
		layers |= 1ull << LAYER_own_uid;
	if (*value(status, "\nGroups:") == '\n' || *value(status, "\nGroups:") == '\0')
		layers |= 1ull << LAYER_no_groups;
	if (has_no_capabilities(status))
		layers |= 1ull << LAYER_no_capabilities;
	if (*value(status, "\nNoNewPrivs:") == '1')
		layers |= 1ull << LAYER_no_new_privs;
	return layers;
}

/* The layers of gVisor's process on the host.  gVisor itself enforces the guest's own root, user
 * and limits. */
static uint64_t
wanted(const struct look *look)
{
	uint64_t by_group =
	    1ull << LAYER_memory_limit | 1ull << LAYER_process_limit | 1ull << LAYER_cpu_limit;
	uint64_t all = 0;

	for (int l = 0; l < LAYER_COUNT; l++)
		if (layer_possible((enum layer)l, look->order->container))
			all |= 1ull << l;
	if (!look->host->loopback)
		all &= ~(1ull << LAYER_own_loopback);
	return (all & ~by_group) | look->group->wanted;
}

pid_t
look_at(const struct look *look, struct layers *layers)
{
	auto_fd int fd = openat(look->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *all = fd >= 0 ? fdopendir(fd) : NULL;
	struct file status;
	const struct dirent *entry;
	pid_t pid = 0;

	if (all == NULL)
		return 0;
	take_fd(&fd);
	while ((entry = readdir(all)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]) && is_it(look, entry->d_name, &status))
			break;
	if (entry != NULL) {
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		layers->wanted = wanted(look);
		layers->in_force = (look->group->in_force | namespaces_of(look, entry->d_name) |
				       mounts_of(look, entry->d_name) | user_of(look, &status) |
				       1ull << LAYER_own_loopback | 1ull << LAYER_seccomp) &
		                   layers->wanted;
		if (has_rlimits(look, entry->d_name))
			layers->in_force |= 1ull << LAYER_rlimits & layers->wanted;
		if (look->host->loopback_errno != 0)
			layers->in_force &= ~(1ull << LAYER_own_loopback);
		memcpy(layers->why, look->group->why, sizeof layers->why);
		layers->why[LAYER_own_loopback] = look->host->loopback_errno;
	}
	closedir(all);
	return pid;
}
