/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheels.c - packages of Python: fetch, unpack, and make the view.
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
#include "executor/packages/install_inner.h"
#include "executor/packages/lock.h"
#include "executor/sandbox/workspace.h"

#include "executor/inquiry.h"
#include "executor/options.h"
#include "executor/run/network/index_hosts.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

enum {
	FILES = 100000, /* of a package; pandas has 3,000 */
	FETCHED = 1024, /* entries of a box that fetches */
	TEXT = 512,
};

static const char shown[] = ORDER_MOUNTED "/";

static void unpack_next(struct install *);

/* ---- show ---- */

static void
viewed(void *self, struct workspace *made, const struct err *e)
{
	struct install *in = self;

	in->installer = NULL;
	in->set->view = made;
	if (install_failed(in, e))
		return;
	install_record(in);
	install_finish(in, NULL);
}

static int
view(struct install *in, struct err *e)
{
	char number[16];
	const struct box_mounts *mounts = package_set_mounts(in->set);

	texts_clear(&in->arguments);
	in->room = (struct workspace_limits){ 0 };
	for (size_t i = 0; i < mounts->count; i++) {
		if (mounts->items[i].place >= ORDER_MAX_PACKAGES)
			continue;
		snprintf(number, sizeof number, "%u", mounts->items[i].place);
		if (texts_add(&in->arguments, number) < 0)
			return err_sys(e, "packages");
	}
	return install_script(in, "view.py", NULL, mounts, viewed, e);
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
	struct package package = {
		.size = wheel->size,
		.python = in->python,
		.workspace = made,
	};
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
	if (install_failed(in, e))
		return;
	if (keep(in, made, &why) < 0)
		install_finish(in, &why);
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
	install_progress(in, file, strlen(file));
	texts_clear(&in->arguments);
	if (texts_add(&in->arguments, file) < 0)
		return err_sys(e, "packages");
	if (install_room(in, FILES, e) < 0)
		return -1;
	return install_script(in, "unpack.py", NULL, &in->mounts, unpacked, e);
}

static bool
is_wheel(const struct tree_entry *entry)
{
	return entry->type == file_type_regular && entry->sha256 != NULL &&
	       strncmp(entry->path, shown, strlen(shown)) == 0;
}

static void
keep_answer(const struct install *in)
{
	struct texts digests = { 0 };
	bool all = true;

	for (size_t i = 0; i < in->list.packages.count; i++)
		all &= texts_add(&digests, in->list.packages.items[i].sha256) == 0;
	if (all)
		lock_keep(in->key, &digests);
	texts_clear(&digests);
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
		package = package_find(entry->sha256, in->python);
		if (package == NULL) {
			if (unpack(in, entry, &e) < 0)
				install_finish(in, &e);
			return;
		}
		r = take_package(in, package, true, &e);
	}
	if (r == 0 && !in->pinned)
		keep_answer(in);
	if (r < 0 || view(in, &e) < 0)
		install_finish(in, &e);
}

static void
listed(void *self, struct files_tree *tree, const struct err *e)
{
	struct install *in = self;

	if (tree != NULL) {
		in->tree = *tree;
		*tree = (struct files_tree){ 0 };
	}
	if (install_failed(in, e))
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
	if (!install_failed(in, e))
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
		if (install_argument(in, "p:", pin, e) < 0)
			return -1;
	}
	return 0;
}

static int
add_hosts(struct install *in, struct err *e)
{
	const struct texts *const lists[] = { index_hosts_of(INDEX_pypi), &options_url_hosts };

	for (size_t l = 0; l < COUNT(lists); l++)
		for (size_t i = 0; i < lists[l]->count; i++)
			if (texts_add(&in->domains, lists[l]->items[i]) < 0)
				return err_sys(e, "packages");
	return 0;
}

static int
fetch(struct install *in, struct err *e)
{
	if ((index_hosts_is_chosen(INDEX_pypi) &&
		install_argument(in, "i:", index_hosts_url(INDEX_pypi), e) < 0) ||
	    install_arguments(in, "x:", index_hosts_more(INDEX_pypi), e) < 0)
		return -1;
	if (install_arguments(in, "h:", &options_url_hosts, e) < 0 || add_hosts(in, e) < 0 ||
	    install_room(in, in->ask.build ? FILES : FETCHED, e) < 0)
		return -1;
	return install_script(in, "fetch.py", &in->domains, NULL, fetched, e);
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
	size_t n = lock_find(in->key, in->python, packages);
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

int
wheels_prepare(struct install *in, struct err *e)
{
	if (in->ask.unusual && install_argument(in, "u:", "", e) < 0)
		return -1;
	/* Scripts of the packages' authors run in that box: its answer is for nobody else. */
	if (in->ask.build) {
		in->pinned = true;
		if (install_argument(in, "b:", "", e) < 0)
			return -1;
	}
	if (add_pins(in, e) < 0 || install_arguments(in, "r:", &in->wanted, e) < 0)
		return -1;

	char language[32];

	in->python = inquiry_minor(in->ask.environment);
	snprintf(language, sizeof language, "python3.%u", in->python);
	in->key = lock_key(language, &in->wanted);
	return in->key != NULL ? 0 : err_sys(e, "packages");
}

int
wheels_begin(struct install *in, struct err *e)
{
	int r = take_locked(in, e);

	return r < 0 ? -1 : r > 0 ? view(in, e) : fetch(in, e);
}
