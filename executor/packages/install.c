/* SPDX-License-Identifier: Apache-2.0 */
/*
 * install.c - fetch, unpack, and make the view.
 *
 * Theory of operation.  A box that reaches only the index finds versions that fit and downloads the
 * wheels.  This process takes their SHA-256 over the bytes, when that box has ended.  Each wheel
 * that is not unpacked yet is unpacked in a box of its own.  Another box makes the tree of links.
 * The answer of the index is kept for some minutes (lock.c), so that the second installation of the
 * same packages needs the last step only.
 *
 * Trusts no name in these boxes: the files of the first are listed by a file helper, and the name
 * and the version in the reply are what the index called its file.
 */
#include "executor/packages/install.h"

#include "executor/files/files.h"
#include "executor/options.h"
#include "executor/packages/installer.h"
#include "executor/packages/lock.h"
#include "executor/run/index_hosts.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"

#include <stdio.h>
#include <string.h>

enum {
	MIB = 1 << 20,
	FILES = 100000, /* of a package; pandas has 3,000 */
	FETCHED = 1024, /* entries of a box that fetches */
	AT_ONCE = 4,    /* installations */
	TEXT = 512,
};

static const char shown[] = ORDER_MOUNTED "/";

struct install {
	struct install_ask ask;
	struct texts wanted;         /* requirements */
	struct texts arguments;      /* of the script that runs */
	char *key;                   /* of what is asked of the index (lock.c) */
	struct installer *installer; /* runs a script now, or NULL */
	struct workspace_limits room;
	struct workspace *fetched; /* the wheels */
	struct box_mount mount;    /* of it, for a box that unpacks */
	struct box_mounts mounts;
	struct files_tree tree; /* of it */
	size_t next;            /* entry of it */
	struct package_set *set;
	bool pinned; /* the set had a package that the index was to name again */
	struct packages_installed list;
	struct err over; /* why it was stopped */
};

static size_t running;

static void unpack_next(struct install *);

/* ---- the end ---- */

static void
finish(struct install *in, const struct err *e)
{
	struct package_set *set = e == NULL ? take_ptr(in->set) : NULL;

	running--;
	in->ask.done(in->ask.self, set, &in->list, e);
	workspace_drop(in->fetched);
	files_tree_clear(&in->tree);
	package_set_put(in->set);
	texts_clear(&in->wanted);
	texts_clear(&in->arguments);
	message_clear(MSG_packages_installed, &in->list);
	free(in->key);
	free(in);
}

/* true: the installation is over, and this call has finished it. */
static bool
failed(struct install *in, const struct err *e)
{
	struct err why = in->over.code != ERR_none ? in->over : e != NULL ? *e : in->over;

	if (why.code == ERR_none)
		return false;
	finish(in, &why);
	return true;
}

void
install_cancel(struct install *in)
{
	if (in->over.code == ERR_none)
		err_set(&in->over, ERR_cancelled, "the installation was cancelled");
	if (in->installer != NULL)
		installer_cancel(in->installer);
}

/* ---- a script ---- */

static void
show_progress(void *self, const char *data, size_t size)
{
	struct install *in = self;
	bool cut;
	struct blob text = utf8_fit(data, size, TEXT, " ... ", &cut);

	if (text.data != NULL && in->ask.progress != NULL)
		in->ask.progress(in->ask.self, text.data);
	blob_clear(&text);
}

static int
run_script(struct install *in, const char *script, const struct texts *domains,
    const struct box_mounts *mounts, const struct workspace_limits *room,
    void (*done)(void *self, struct workspace *, const struct err *), struct err *e)
{
	const struct installer_ask ask = {
		.script = script,
		.arguments = &in->arguments,
		.domains = domains,
		.mounts = mounts,
		.room = room,
		.owner = in->ask.owner,
		.output = domains != NULL ? show_progress : NULL,
		.done = done,
		.self = in,
	};

	in->installer = installer_begin(&ask, e);
	return in->installer != NULL ? 0 : -1;
}

static int
add_argument(struct install *in, const char *kind, const char *text, struct err *e)
{
	auto_free char *argument = NULL;

	return asprintf(&argument, "%s%s", kind, text) < 0 ||
	               texts_add(&in->arguments, argument) < 0
	           ? err_sys(e, "packages")
	           : 0;
}

/* ---- show ---- */

static void
record(const struct install *in)
{
	const struct package_info *infos = in->list.packages.items;
	char detail[TEXT];

	for (size_t i = 0; i < in->list.packages.count; i++) {
		snprintf(detail, sizeof detail, "%.200s %.100s sha256:%s", infos[i].name,
		    infos[i].version, infos[i].sha256);
		event_note(&in->ask.owner, (struct audit_event){ .event = event_package_installed,
					       .session_id = (char *)(uintptr_t)in->ask.session_id,
					       .detail = detail });
	}
}

static void
viewed(void *self, struct workspace *made, const struct err *e)
{
	struct install *in = self;

	in->installer = NULL;
	in->set->view = made;
	if (failed(in, e))
		return;
	record(in);
	finish(in, NULL);
}

static int
view(struct install *in, struct err *e)
{
	char number[16];
	const struct box_mounts *mounts = package_set_mounts(in->set);

	texts_clear(&in->arguments);
	for (size_t i = 0; i < mounts->count; i++) {
		snprintf(number, sizeof number, "%u", mounts->items[i].place);
		if (texts_add(&in->arguments, number) < 0)
			return err_sys(e, "packages");
	}
	return run_script(in, "view", NULL, mounts, NULL, viewed, e);
}

/* ---- unpack ---- */

static bool
was_asked(const struct install *in, const char *name)
{
	for (size_t i = 0; i < in->wanted.count; i++) {
		const char *text = in->wanted.items[i];
		auto_free char *wanted =
		    package_normal(text, strspn(text, "abcdefghijklmnopqrstuvwxyz"
						      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."));

		if (wanted != NULL && strcmp(wanted, name) == 0)
			return true;
	}
	return false;
}

/* Takes the use of the package. */
static int
take_package(struct install *in, struct package *package, bool cached, struct err *e)
{
	struct package_info *info = list_add(&in->list.packages, sizeof *info);

	if (info == NULL) {
		package_put(package);
		return err_sys(e, "packages");
	}
	*info = (struct package_info){
		.name = strdup(package->name),
		.version = strdup(package->version),
		.sha256 = strdup(package->sha256),
		.size = package->size,
		.asked = was_asked(in, package->name),
		.cached = cached,
	};
	in->pinned |= package_set_find(in->set, package->name) != NULL && !info->asked;
	return package_set_add(in->set, package, e);
}

static int
keep(struct install *in, struct workspace *made, struct err *e)
{
	const struct tree_entry *wheel = &in->tree.items[in->next++];
	struct package package = { .size = wheel->size, .workspace = made };
	struct workspace_limits left;
	bool bare;

	if (workspace_left(made, &left, &bare, e) < 0 ||
	    package_name(wheel->path + strlen(shown), &package.name, &package.version, e) < 0) {
		workspace_drop(made);
		return -1;
	}
	memcpy(package.sha256, wheel->sha256, HASH_HEX);
	package.bytes = in->room.bytes - left.bytes;

	struct package *kept = package_add(&package);

	return kept == NULL ? err_sys(e, "packages") : take_package(in, kept, false, e);
}

static void
unpacked(void *self, struct workspace *made, const struct err *e)
{
	struct install *in = self;
	struct err why;

	in->installer = NULL;
	if (in->over.code != ERR_none)
		workspace_drop(take_ptr(made));
	if (failed(in, e))
		return;
	if (keep(in, made, &why) < 0)
		finish(in, &why);
	else
		unpack_next(in);
}

static int
unpack(struct install *in, const struct tree_entry *wheel, struct err *e)
{
	const char *file = wheel->path + strlen(shown);
	auto_free char *name = NULL;
	auto_free char *version = NULL;

	if (package_name(file, &name, &version, e) < 0)
		return -1;
	show_progress(in, file, strlen(file));
	texts_clear(&in->arguments);
	if (texts_add(&in->arguments, file) < 0)
		return err_sys(e, "packages");
	in->room = (struct workspace_limits){ options.package_mb * MIB, FILES };
	return run_script(in, "unpack", NULL, &in->mounts, &in->room, unpacked, e);
}

static bool
is_wheel(const struct tree_entry *entry)
{
	return entry->type == file_type_regular && entry->sha256 != NULL &&
	       strncmp(entry->path, shown, strlen(shown)) == 0;
}

/* Goes on with the next wheel that is not unpacked yet. */
static void
unpack_next(struct install *in)
{
	struct package *package;
	struct err e;
	int r = 0;

	for (; r == 0 && in->next < in->tree.count; in->next++) {
		const struct tree_entry *entry = &in->tree.items[in->next];

		if (!is_wheel(entry))
			continue;
		package = package_find(entry->sha256);
		if (package == NULL) {
			if (unpack(in, entry, &e) < 0)
				finish(in, &e);
			return;
		}
		r = take_package(in, package, true, &e);
	}
	if (r == 0 && !in->pinned)
		lock_keep(in->key, &in->list);
	if (r < 0 || view(in, &e) < 0)
		finish(in, &e);
}

static void
listed(void *self, struct files_tree *tree, const struct err *e)
{
	struct install *in = self;

	if (tree != NULL) {
		in->tree = *tree;
		*tree = (struct files_tree){ 0 };
	}
	if (failed(in, e))
		return;
	in->mount = (struct box_mount){ in->fetched, 0 };
	in->mounts = (struct box_mounts){ &in->mount, 1 };
	unpack_next(in);
}

/* ---- fetch ---- */

static void
fetched(void *self, struct workspace *made, const struct err *e)
{
	struct install *in = self;

	in->installer = NULL;
	in->fetched = made;
	if (!failed(in, e))
		files_list(made, FETCHED, INT64_MAX, listed, in);
}

/* The packages of the session stay as they are, unless one is asked for by name. */
static int
add_pins(struct install *in, struct err *e)
{
	const struct package_set *set = in->ask.from;
	char pin[TEXT];

	for (size_t i = 0; set != NULL && i < COUNT(set->packages); i++) {
		const struct package *package = set->packages[i];

		if (package == NULL || was_asked(in, package->name))
			continue;
		snprintf(pin, sizeof pin, "%.250s==%.250s", package->name, package->version);
		if (add_argument(in, "p:", pin, e) < 0)
			return -1;
	}
	return 0;
}

static int
add_all(struct install *in, const char *kind, const struct texts *texts, struct err *e)
{
	for (size_t i = 0; i < texts->count; i++)
		if (add_argument(in, kind, texts->items[i], e) < 0)
			return -1;
	return 0;
}

static int
fetch(struct install *in, struct err *e)
{
	if ((index_hosts_is_chosen(INDEX_pypi) &&
		add_argument(in, "i:", index_hosts_url(INDEX_pypi), e) < 0) ||
	    add_all(in, "x:", index_hosts_more(INDEX_pypi), e) < 0)
		return -1;
	in->room = (struct workspace_limits){ options.package_mb * MIB, FETCHED };
	return run_script(in, "fetch", index_hosts_of(INDEX_pypi), NULL, &in->room, fetched, e);
}

/* ---- the beginning ---- */

/* Would the index have answered the same, with the packages of the set as they are? */
static bool
fits(const struct install *in, struct package *const *packages, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct package *old = package_set_find(in->set, packages[i]->name);

		if (old != NULL && old != packages[i] && !was_asked(in, old->name))
			return false;
	}
	return true;
}

/* 1: all that the index would name is unpacked, and in the set. */
static int
take_locked(struct install *in, struct err *e)
{
	struct package *packages[ORDER_MAX_PACKAGES];
	size_t n = lock_find(in->key, packages);
	int r = 0;

	if (!fits(in, packages, n)) {
		while (n > 0)
			package_put(packages[--n]);
		return 0;
	}

	for (size_t i = 0; i < n; i++)
		if (r < 0)
			package_put(packages[i]);
		else
			r = take_package(in, packages[i], true, e);
	return r < 0 ? -1 : n > 0;
}

static void
begin(void *self)
{
	struct install *in = self;
	struct err e;

	if (failed(in, NULL))
		return;

	int r = take_locked(in, &e);

	if (r < 0 || (r > 0 ? view(in, &e) : fetch(in, &e)) < 0)
		finish(in, &e);
}

static int
check(const struct install_ask *ask, struct err *e)
{
	if (!options.packages)
		return err_set(e, ERR_denied,
		    "the operator of this server does not allow packages (the setting packages)");
	if (index_hosts_url(INDEX_pypi) == NULL || index_hosts_of(INDEX_pypi)->count == 0)
		return err_set(e, ERR_unavailable,
		    "pip is not installed on this server, or is configured for no index with a "
		    "name");
	if (running >= AT_ONCE)
		return err_set(e, ERR_queue_full, "%d installations are under way", AT_ONCE);
	for (size_t i = 0; i < ask->packages->count; i++)
		if (strlen(ask->packages->items[i]) > 255 || ask->packages->items[i][0] == '\0')
			return err_set(e, ERR_invalid_argument,
			    "packages[%zu]: a name and versions take 1 to 255 bytes", i);
	return 0;
}

static int
prepare(struct install *in, struct err *e)
{
	for (size_t i = 0; i < in->ask.packages->count; i++)
		if (texts_add(&in->wanted, in->ask.packages->items[i]) < 0)
			return err_sys(e, "packages");
	in->set = package_set_new(in->ask.from);
	if (in->set == NULL)
		return err_sys(e, "packages");
	if (in->ask.unusual && add_argument(in, "u:", "", e) < 0)
		return -1;
	if (add_pins(in, e) < 0 || add_all(in, "r:", &in->wanted, e) < 0)
		return -1;
	in->key = lock_key(&in->wanted);
	return in->key != NULL ? 0 : err_sys(e, "packages");
}

struct install *
install_begin(const struct install_ask *ask, struct err *e)
{
	struct install *in;

	if (check(ask, e) < 0)
		return NULL;
	in = calloc(1, sizeof *in);
	if (in == NULL) {
		err_sys(e, "packages");
		return NULL;
	}
	in->ask = *ask;
	if (prepare(in, e) < 0) {
		texts_clear(&in->wanted);
		texts_clear(&in->arguments);
		package_set_put(in->set);
		free(in);
		return NULL;
	}
	in->ask.packages = NULL;
	in->ask.from = NULL;
	running++;
	loop_after(0, begin, in);
	return in;
}
