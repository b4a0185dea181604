/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.c - packages of Node: npm makes the whole tree, in one box.
 *
 * Theory of operation.  npm decides where each package lies in node_modules, so a tree is one
 * thing: an installation makes a new tree of all that the session has asked for, and the session
 * changes over to it.  A tree is known by the SHA-256 of what was asked and of npm's report, which
 * has the digest of each archive.  A hostile package may forge the report, so whoever asks for
 * something else must not find its tree by that.
 *
 * Trusts nothing in the report: it is shown to the caller.
 */
#include "executor/packages/install_inner.h"
#include "executor/packages/lock.h"
#include "executor/sandbox/workspace.h"

#include "executor/run/network/index_hosts.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/utf8.h"

#include <string.h>

enum {
	FILES = 100000,
	REPORT = 1 << 20,
	SHOWN = 128, /* of schema.def */
};

/* "@a/b@1" and "b@^2" begin with names of that many bytes. */
static size_t
name_size(const char *spec)
{
	const char *at = strchr(spec + (spec[0] == '@'), '@');

	return at != NULL ? (size_t)(at - spec) : strlen(spec);
}

static bool
is_same(const char *a, const char *b)
{
	return name_size(a) == name_size(b) && memcmp(a, b, name_size(a)) == 0;
}

static bool
was_asked(const struct install *in, const char *name)
{
	for (size_t i = 0; i < in->wanted.count; i++)
		if (is_same(in->wanted.items[i], name))
			return true;
	return false;
}

/* ---- what npm installed ---- */

/* A line of the report: name, version and digest, between tabs. */
static int
add_line(struct install *in, const struct package *tree, const char *line, const char *end,
    bool cached, struct err *e)
{
	const char *first = memchr(line, '\t', (size_t)(end - line));
	const char *second =
	    first == NULL ? NULL : memchr(first + 1, '\t', (size_t)(end - first - 1));
	struct package_info *info;

	if (second == NULL || in->list.packages.count == SHOWN || first - line > 255 ||
	    first == line || second - first > 255 || second == first + 1 || end - second > 255)
		return 0;
	info = list_add(&in->list.packages, sizeof *info);
	if (info == NULL)
		return err_sys(e, "packages");
	*info = (struct package_info){
		.name = strndup(line, (size_t)(first - line)),
		.version = strndup(first + 1, (size_t)(second - first - 1)),
		.sha256 = strdup(tree->sha256),
		.integrity =
		    end > second + 1 ? strndup(second + 1, (size_t)(end - second - 1)) : NULL,
		.cached = cached,
	};
	info->asked = info->name != NULL && was_asked(in, info->name);
	return 0;
}

/* Takes the use of the tree. */
static int
take_tree(struct install *in, struct package *tree, bool cached, struct err *e)
{
	const char *line = tree->report.data, *end = line + tree->report.size, *stop;
	int r = 0;

	package_put(in->set->modules);
	in->set->modules = tree;
	for (; r == 0 && line < end; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop == NULL ? end : stop;
		r = add_line(in, tree, line, stop, cached, e);
	}
	return r;
}

static void
end(struct install *in)
{
	install_record(in);
	install_finish(in, NULL);
}

static struct package *
keep(struct install *in, struct blob *report, const char *sha256, struct err *e)
{
	struct package made = { .size = report->size };
	struct workspace_limits left;
	bool bare;

	if (workspace_left(in->fetched, &left, &bare, e) < 0)
		return NULL;
	made.name = strdup("node_modules");
	made.version = strdup(sha256);
	made.workspace = take_ptr(in->fetched);
	made.bytes = in->room.bytes - left.bytes;
	made.report = *report;
	memcpy(made.sha256, sha256, HASH_HEX);
	*report = (struct blob){ 0 };
	return package_add(&made);
}

static void
name_tree(const struct install *in, const struct blob *report, char sha256[HASH_HEX])
{
	struct hash hash;

	hash_begin(&hash);
	hash_add(&hash, in->key, strlen(in->key) + 1);
	hash_add(&hash, report->data, report->size);
	hash_end_hex(&hash, sha256);
}

static void
report_read(void *self, struct blob *content, const struct err *e)
{
	struct install *in = self;
	struct texts digests = { 0 };
	char sha256[HASH_HEX];
	struct package *tree;
	struct err why;

	if (install_failed(in, content == NULL ? e : NULL))
		return;
	must(content != NULL);
	if (!utf8_valid(content->data, content->size)) {
		err_set(&why, ERR_install_failed, "npm's report is not UTF-8");
		install_finish(in, &why);
		return;
	}
	name_tree(in, content, sha256);
	tree = package_find(sha256, 0);
	if (tree == NULL)
		tree = keep(in, content, sha256, &why);
	if (texts_add(&digests, sha256) == 0)
		lock_keep(in->key, &digests);
	texts_clear(&digests);
	if (tree == NULL || take_tree(in, tree, false, &why) < 0)
		install_finish(in, &why);
	else
		end(in);
}

/* ---- fetch ---- */

static void
fetched(void *self, struct workspace *made, const struct err *e)
{
	struct install *in = self;

	in->installer = NULL;
	in->fetched = made;
	if (!install_failed(in, e))
		files_read(made, "report", REPORT, report_read, in);
}

/* The names that the session has asked for, with the new ones in place of the same. */
static int
join(struct install *in, struct err *e)
{
	struct texts all = { 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < in->set->specs.count; i++)
		if (!was_asked(in, in->set->specs.items[i]))
			r = texts_add(&all, in->set->specs.items[i]);
	for (size_t i = 0; r == 0 && i < in->wanted.count; i++)
		r = texts_add(&all, in->wanted.items[i]);
	texts_clear(&in->set->specs);
	in->set->specs = all;
	return r < 0 ? err_sys(e, "packages") : 0;
}

int
modules_prepare(struct install *in, struct err *e)
{
	if (in->ask.unusual && install_argument(in, "u:", "", e) < 0)
		return -1;
	if (join(in, e) < 0 || install_arguments(in, "r:", &in->set->specs, e) < 0 ||
	    install_argument(in, "i:", index_hosts_url(INDEX_npm), e) < 0)
		return -1;
	in->key = lock_key("node", &in->set->specs);
	return in->key != NULL ? 0 : err_sys(e, "packages");
}

int
modules_begin(struct install *in, struct err *e)
{
	struct package *trees[ORDER_MAX_PACKAGES];

	if (lock_find(in->key, 0, trees) == 1) {
		if (take_tree(in, trees[0], true, e) < 0)
			return -1;
		end(in);
		return 0;
	}
	if (install_room(in, FILES, e) < 0)
		return -1;
	return install_script(in, "fetch.js", index_hosts_of(INDEX_npm), NULL, fetched, e);
}
