/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root.c - a small read-only tmpfs with the host's /usr and the other paths of binds.def, without
 * the directories of hidden.def, and nothing else of the host.
 *
 * Trusts the host's /usr.  The languages' drivers are embedded in this program, so that no file of
 * the host replaces them.
 */
#include "executor/builder/root.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "executor/builder/arguments.h"
#include "executor/builder/box_trust.h"
#include "executor/builder/confine/proc_files.h"
#include "executor/builder/image.h"
#include "executor/builder/launch/environment.h"
#include "executor/builder/prefix.h"
#include "executor/builder/runtimes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* clang-format off */
#define EMBED(symbol, path) \
	__asm__(".pushsection .rodata\n" #symbol ": .incbin \"" CLOISTER_GUEST "/" path "\"\n" \
		#symbol "_end: .byte 0\n.popsection\n"); \
	extern const char symbol[], symbol##_end[];
EMBED(guest_check_javascript, "check/javascript.js")
EMBED(guest_check_javascript_danger, "check/javascript_danger.js")
EMBED(guest_check_main,     "check/main.js")
EMBED(guest_check_node,     "check/node.def")
EMBED(guest_check_report,   "check/report.js")
EMBED(guest_check_rules,    "check/rules.js")
EMBED(guest_check_shell,    "check/shell.js")
EMBED(guest_check_shell_danger, "check/shell_danger.js")
EMBED(guest_check_commands, "check/shell.def")
EMBED(guest_check_text,     "check/text.js")
EMBED(guest_node_as_file,   "node/as_file.js")
EMBED(guest_node_driver,    "node/driver.js")
EMBED(guest_node_guard,     "node/guard.js")
EMBED(guest_node_interfaces,"node/interfaces.js")
EMBED(guest_node_rewrite,   "node/rewrite.js")
EMBED(guest_node_typed,     "node/typed.js")
EMBED(guest_node_values,    "node/values.js")
EMBED(guest_packages_fetch, "packages/fetch.py")
EMBED(guest_packages_modules, "packages/fetch.js")
EMBED(guest_packages_names, "packages/names.py")
EMBED(guest_packages_words, "packages/names.js")
EMBED(guest_packages_unpack,"packages/unpack.py")
EMBED(guest_packages_view,  "packages/view.py")
EMBED(guest_python_as_file, "python/as_file.py")
EMBED(guest_python_driver,  "python/driver.py")
EMBED(guest_python_ending,  "python/ending.py")
EMBED(guest_python_failure, "python/failure.py")
EMBED(guest_python_imports, "python/imports.py")
EMBED(guest_python_loop,    "python/loop.py")
EMBED(guest_python_invocation, "python/invocation.py")
EMBED(guest_python_interfaces,"python/interfaces.py")
EMBED(guest_python_lent,    "python/lent.py")
EMBED(guest_python_manners, "python/manners.py")
EMBED(guest_python_notebook,"python/notebook.py")
EMBED(guest_python_packages,"python/packages.py")
EMBED(guest_python_records, "python/records.py")
EMBED(guest_python_rest,    "python/rest.py")
EMBED(guest_python_rich,    "python/rich.py")
EMBED(guest_python_shadows, "python/shadows.py")
EMBED(guest_python_values,  "python/values.py")
EMBED(guest_python_zygote,  "python/zygote.py")
EMBED(guest_shell_driver,   "shell/driver.sh")
/* clang-format on */

enum need { WANT, MUST };

static const struct {
	const char *path;
	enum need need;
} binds[] = {
#define BIND(path, need) { path, need },
#include "executor/builder/binds.def"
};

static const char *const hidden[] = {
#define HIDE(path) path,
#include "executor/builder/hidden.def"
};

/* As on the host: links into /usr, or directories of their own. */
static const char *const tops[] = { "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32" };

static const char *const directories[] = { "cloister", "cloister/check", "cloister/images",
	"cloister/node", "cloister/packages", "cloister/python", "cloister/shell", "dev", "dev/pts",
	"etc", "etc/ssl", "etc/ssl/certs", "mnt", "node_modules", "packages", "proc", "run",
	"sandbox", "sys", "sys/devices", "sys/devices/system", "sys/devices/system/cpu", "tmp",
	"user", "user/base", "user/index", "workspace" };

static const struct {
	const char *path, *target;
} links[] = {
	{ "mnt/data", "/workspace" }, { "sandbox/workspace", "/workspace" },
	{ "dev/fd", "/proc/self/fd" }, { "dev/stdin", "/proc/self/fd/0" },
	{ "dev/stdout", "/proc/self/fd/1" }, { "dev/stderr", "/proc/self/fd/2" },
	/* Where lscpu(1) and the C library count processors. */
	{ "sys/devices/system/cpu/online", PROC_FILES "/processors" },
	{ "sys/devices/system/cpu/possible", PROC_FILES "/processors" },
	{ "sys/devices/system/cpu/present", PROC_FILES "/processors" },
	{ "dev/ptmx", "pts/ptmx" }, /* of the box's own devpts (confine/confine.c) */
	{ "cloister/shell/code.sh", "/tmp/.code" }, /* the program (guest/shell/driver.sh) */
	{ "dev/shm", "/tmp" }, /* so that shared memory counts as files of /tmp */
};

static const struct {
	const char *path, *text, *end; /* end NULL: the text ends at its zero byte */
} files[] = {
	/* No process can become root.  Files of the host belong to nobody, because the host's
	 * ids are not mapped. */
	{ "etc/passwd",
	    "root:x:0:0:root:/root:/bin/sh\n"
	    "sandbox:x:1000:1000:sandbox:/tmp:/bin/sh\n"
	    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
	    NULL },
	{ "etc/group", "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n", NULL },
	{ "etc/hosts",
	    "127.0.0.1 localhost\n"
	    "127.0.1.1 cloister\n" /* confine.c sets that name */
	    "::1 localhost ip6-localhost ip6-loopback\n",
	    NULL },
	{ "etc/gitconfig", "[user]\n\tname = sandbox\n\temail = sandbox@cloister.invalid\n", NULL },
	{ "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n", NULL },
	{ "etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:3 attempts:2\n", NULL },
	{ "cloister/check/javascript.js", guest_check_javascript, guest_check_javascript_end },
	{ "cloister/check/javascript_danger.js", guest_check_javascript_danger,
	    guest_check_javascript_danger_end },
	{ "cloister/check/main.js", guest_check_main, guest_check_main_end },
	{ "cloister/check/node.def", guest_check_node, guest_check_node_end },
	{ "cloister/check/report.js", guest_check_report, guest_check_report_end },
	{ "cloister/check/rules.js", guest_check_rules, guest_check_rules_end },
	{ "cloister/check/shell.def", guest_check_commands, guest_check_commands_end },
	{ "cloister/check/shell.js", guest_check_shell, guest_check_shell_end },
	{ "cloister/check/shell_danger.js", guest_check_shell_danger,
	    guest_check_shell_danger_end },
	{ "cloister/check/text.js", guest_check_text, guest_check_text_end },
	{ "cloister/node/as_file.js", guest_node_as_file, guest_node_as_file_end },
	{ "cloister/node/driver.js", guest_node_driver, guest_node_driver_end },
	{ "cloister/node/guard.js", guest_node_guard, guest_node_guard_end },
	{ "cloister/node/interfaces.js", guest_node_interfaces, guest_node_interfaces_end },
	{ "cloister/node/rewrite.js", guest_node_rewrite, guest_node_rewrite_end },
	{ "cloister/node/typed.js", guest_node_typed, guest_node_typed_end },
	{ "cloister/node/values.js", guest_node_values, guest_node_values_end },
	{ "cloister/shell/driver.sh", guest_shell_driver, guest_shell_driver_end },
	{ "cloister/packages/fetch.py", guest_packages_fetch, guest_packages_fetch_end },
	{ "cloister/packages/fetch.js", guest_packages_modules, guest_packages_modules_end },
	{ "cloister/packages/names.py", guest_packages_names, guest_packages_names_end },
	{ "cloister/packages/names.js", guest_packages_words, guest_packages_words_end },
	{ "cloister/packages/unpack.py", guest_packages_unpack, guest_packages_unpack_end },
	{ "cloister/packages/view.py", guest_packages_view, guest_packages_view_end },
	{ "cloister/python/as_file.py", guest_python_as_file, guest_python_as_file_end },
	{ "cloister/python/driver.py", guest_python_driver, guest_python_driver_end },
	{ "cloister/python/ending.py", guest_python_ending, guest_python_ending_end },
	{ "cloister/python/failure.py", guest_python_failure, guest_python_failure_end },
	{ "cloister/python/imports.py", guest_python_imports, guest_python_imports_end },
	{ "cloister/python/loop.py", guest_python_loop, guest_python_loop_end },
	{ "cloister/python/invocation.py", guest_python_invocation, guest_python_invocation_end },
	{ "cloister/python/interfaces.py", guest_python_interfaces, guest_python_interfaces_end },
	{ "cloister/python/lent.py", guest_python_lent, guest_python_lent_end },
	{ "cloister/python/manners.py", guest_python_manners, guest_python_manners_end },
	{ "cloister/python/notebook.py", guest_python_notebook, guest_python_notebook_end },
	{ "cloister/python/packages.py", guest_python_packages, guest_python_packages_end },
	{ "cloister/python/records.py", guest_python_records, guest_python_records_end },
	{ "cloister/python/rest.py", guest_python_rest, guest_python_rest_end },
	{ "cloister/python/rich.py", guest_python_rich, guest_python_rich_end },
	{ "cloister/python/shadows.py", guest_python_shadows, guest_python_shadows_end },
	{ "cloister/python/values.py", guest_python_values, guest_python_values_end },
	{ "cloister/python/zygote.py", guest_python_zygote, guest_python_zygote_end },
};

static int
make_tmpfs(const char *size, const char *inodes, unsigned attributes, struct err *e)
{
	auto_fd int context = fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (context < 0 || fsconfig(context, FSCONFIG_SET_STRING, "size", size, 0) < 0 ||
	    fsconfig(context, FSCONFIG_SET_STRING, "nr_inodes", inodes, 0) < 0 ||
	    fsconfig(context, FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_sys(e, "make a tmpfs");

	int mount =
	    fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | attributes);

	return mount < 0 ? err_sys(e, "mount a tmpfs") : mount;
}

static int
make_file(int root, const char *path, const void *data, size_t size, struct err *e)
{
	auto_fd int file = openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (file < 0)
		return err_sys(e, "make %s", path);
	return fdio_write(file, data, size, e);
}

static int
bind(int root, const char *path, struct err *e)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID };
	auto_fd int tree =
	    open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	struct stat st;

	if (tree < 0 || fstat(tree, &st) < 0)
		return err_sys(e, "open %s", path);
	if (S_ISCHR(st.st_mode))
		attr.attr_set |= MOUNT_ATTR_NOEXEC;
	else
		attr.attr_set |= MOUNT_ATTR_NODEV;
	if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) < 0)
		return err_sys(e, "restrict %s", path);
	if (S_ISDIR(st.st_mode) ? mkdirat(root, path + 1, 0755) < 0
				: make_file(root, path + 1, "", 0, e) < 0)
		return err_sys(e, "make %s", path);
	if (move_mount(tree, "", root, path + 1, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "bind %s", path);
	return 0;
}

/* Makes the directories above a path of the host; those may exist. */
static int
make_above(int root, const char *path, struct err *e)
{
	auto_free char *part = strdup(path + 1);

	if (part == NULL)
		return err_sys(e, "make %s", path);
	for (char *slash = strchr(part, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(root, part, 0755) < 0 && errno != EEXIST)
			return err_sys(e, "make /%s", part);
		*slash = '/';
	}
	return 0;
}

/* Environments may share the installation behind them, or lie in one that is there already. */
static int
bind_prefix(int root, const char *prefix, struct err *e)
{
	struct stat here, there;

	if (stat(prefix, &here) < 0)
		return err_sys(e, "%s", prefix);
	if (fstatat(root, prefix + 1, &there, 0) == 0 && here.st_dev == there.st_dev &&
	    here.st_ino == there.st_ino)
		return 0;
	return make_above(root, prefix, e) < 0 ? -1 : bind(root, prefix, e);
}

/* An interpreter that cannot be shown is missing, and says why; other languages work. */
static void
bind_python(int root, uint32_t environment)
{
	char prefixes[PREFIXES][PREFIX_BYTES];
	size_t n = 0;
	struct err e = { 0 };
	const char *python = runtimes_python(environment), *image = runtimes_image(environment);
	int r = image != NULL    ? image_bind(root, environment, image, &e)
	        : python != NULL ? prefix_find(python, prefixes, &n, &e)
	                         : 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = bind_prefix(root, prefixes[i], &e);
	if (r == 0)
		return;
	log_error("programs cannot use this interpreter", LOG_E(&e));
	runtimes_refuse_python(environment, &e);
}

static int
bind_all(int root, struct err *e)
{
	char target[256];

	for (size_t i = 0; i < COUNT(binds); i++)
		if (bind(root, binds[i].path, e) < 0 && (binds[i].need == MUST || e->sys != ENOENT))
			return -1;
	for (size_t i = 0; i < COUNT(tops); i++) {
		ssize_t n = readlink(tops[i], target, sizeof target - 1);

		if (n > 0) {
			target[n] = '\0';
			if (symlinkat(target, root, tops[i] + 1) < 0)
				return err_sys(e, "make %s", tops[i]);
		} else if (bind(root, tops[i], e) < 0 && e->sys != ENOENT)
			return -1;
	}
	return 0;
}

/* Everything mounted below it is hidden with it. */
static int
hide(int root, const char *path, struct err *e)
{
	struct stat st;

	if (fstatat(root, path + 1, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "stat %s", path);
	if (!S_ISDIR(st.st_mode))
		return 0;

	auto_fd int empty = make_tmpfs("4k", "1", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, e);

	if (empty < 0)
		return -1;
	return move_mount(empty, "", root, path + 1, MOVE_MOUNT_F_EMPTY_PATH) < 0
	           ? err_sys(e, "hide %s", path)
	           : 0;
}

static int
hide_all(int root, struct err *e)
{
	for (size_t i = 0; i < COUNT(hidden); i++)
		if (arguments_show(hidden[i]))
			log_info(
			    "boxes see a local directory of this host", LOG_S("path", hidden[i]));
		else if (hide(root, hidden[i], e) < 0)
			return -1;
	return 0;
}

/* Makes copies, because ldconfig and upgrades replace the host's files. */
static int
copy_configuration(int root, struct err *e)
{
	static const char *const paths[] = { "/etc/ld.so.cache", "/etc/ssl/openssl.cnf",
		"/etc/services", "/etc/protocols" };

	for (size_t i = 0; i < COUNT(paths); i++) {
		struct blob text = { 0 };
		int r = fdio_load(AT_FDCWD, paths[i], 4 << 20, &text, e);

		if (r == 0)
			r = make_file(root, paths[i] + 1, text.data, text.size, e);
		else if (e->sys == ENOENT)
			r = 0;
		free(text.data);
		if (r < 0)
			return -1;
	}
	return 0;
}

static int
make_trust(int root, struct err *e)
{
	struct trust trust;
	int r = trust_load(arguments_ca(), &trust, e);

	if (r == 0)
		r = make_file(root, &TRUST_BUNDLE[1], trust.all.data, trust.all.size, e);
	if (r == 0 && trust.added.size > 0)
		r = make_file(root, &TRUST_ADDED[1], trust.added.data, trust.added.size, e);
	if (r == 0)
		r = box_trust_keep(&trust, e);
	environment_trust(trust.added.size > 0);
	trust_clear(&trust);
	return r;
}

/* Machine code for boxes is beside this program: a part of zygotes, the first process of a
 * container, and the checker of CSV files. */
static int
copy_beside(int root, const char *file, const char *to, mode_t mode, struct err *e)
{
	char path[4096];
	struct blob code = { 0 };
	ssize_t n = readlink("/proc/self/exe", path, sizeof path);
	char *name = n > 0 && n < (ssize_t)sizeof path ? memrchr(path, '/', (size_t)n) : NULL;

	if (name == NULL || name + 1 + strlen(file) >= path + sizeof path)
		return err_set(e, ERR_internal, "the path of this program is invalid");
	memcpy(name + 1, file, strlen(file) + 1);
	int r = fdio_load(AT_FDCWD, path, 4 << 20, &code, e);

	if (r == 0)
		r = make_file(root, to, code.data, code.size, e);
	blob_clear(&code);
	return r < 0 || fchmodat(root, to, mode, 0) == 0 ? r : err_sys(e, "chmod %s", to);
}

static int
copy_all_beside(int root, struct err *e)
{
	static const struct {
		const char *file, *to;
		mode_t mode;
	} all[] = { { "_zygote.so", "cloister/python/_zygote.so", 0644 },
		{ "cloister-init", "cloister/init", 0755 },
		{ "cloister-csv", "cloister/check/csv", 0755 } };

	for (size_t i = 0; i < COUNT(all); i++)
		if (copy_beside(root, all[i].file, all[i].to, all[i].mode, e) < 0)
			return -1;
	return 0;
}

/* What packages are mounted on. */
static int
make_places(int root, struct err *e)
{
	char path[32];

	for (int i = 0; i < ORDER_MAX_PACKAGES; i++) {
		snprintf(path, sizeof path, "packages/%d", i);
		if (mkdirat(root, path, 0755) < 0)
			return err_sys(e, "make /%s", path);
	}
	return 0;
}

static int
fill(int root, struct err *e)
{
	for (size_t i = 0; i < COUNT(directories); i++)
		if (mkdirat(root, directories[i], 0755) < 0)
			return err_sys(e, "make /%s", directories[i]);
	if (make_places(root, e) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(links); i++)
		if (symlinkat(links[i].target, root, links[i].path) < 0)
			return err_sys(e, "make /%s", links[i].path);
	for (size_t i = 0; i < COUNT(files); i++) {
		const char *end = files[i].end != NULL ? files[i].end : strchr(files[i].text, '\0');

		if (make_file(
			root, files[i].path, files[i].text, (size_t)(end - files[i].text), e) < 0)
			return -1;
	}
	if (copy_configuration(root, e) < 0 || make_trust(root, e) < 0)
		return -1;
	return copy_all_beside(root, e);
}

/*
 * The kernel allows a process without root to mount a new /proc only if it already sees a complete
 * one.  Boxes drop this one when they mount their own.  If the host's /proc is masked (a
 * container), boxes have none, and the builder continues to use the host's through a descriptor.
 */
static int
mount_proc(struct host *h, int root, struct err *e)
{
	auto_fd int context = fsopen("proc", FSOPEN_CLOEXEC);
	auto_fd int proc = -1;

	if (context >= 0 && fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		proc = fsmount(context, FSMOUNT_CLOEXEC,
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (proc < 0)
		return 0;
	if (move_mount(proc, "", root, "proc", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mount /proc");
	close(h->proc);
	h->proc = openat(root, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	h->own_proc = true;
	return h->proc < 0 ? err_sys(e, "open /proc") : 0;
}

/* Both roots are "." for a moment, with the old one on top: see pivot_root(2). */
static int
enter(int root, struct err *e)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };

	if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return err_sys(e, "change the root");
	if (mount_setattr(AT_FDCWD, "/", 0, &attr, sizeof attr) < 0)
		return err_sys(e, "make the root read-only");
	return 0;
}

int
root_make(struct host *h, struct err *e)
{
	auto_fd int root = make_tmpfs("8m", "1k", 0, e);

	if (root < 0)
		return -1;
	if (move_mount(root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mount the new root");
	if (fill(root, e) < 0 || bind_all(root, e) < 0 || hide_all(root, e) < 0)
		return -1;
	for (uint32_t i = 0; i < ORDER_MAX_ENVIRONMENTS; i++)
		bind_python(root, i);
	if (mount_proc(h, root, e) < 0)
		return -1;
	proc_files_open(h);
	return enter(root, e);
}
