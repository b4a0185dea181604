/* SPDX-License-Identifier: Apache-2.0 */
/*
 * install.c - install_package: fetch, unpack, show.
 *
 * Theory of operation.  A box that reaches only the index finds versions that fit and downloads the
 * wheels.  This process takes their SHA-256 over the bytes, when that box has ended.  Each wheel
 * that is not unpacked yet is unpacked in a box of its own.  Another box makes the tree of links.
 * Only then does the session change over, so a step that fails or a process that is killed leaves
 * the packages as they were.
 *
 * Trusts no name in these boxes: the files of the first are listed by a file helper, and the name
 * and the version in the reply are what the index called its file.
 */
#include "executor/packages/install.h"

#include "executor/files/files.h"
#include "executor/options.h"
#include "executor/packages/installer.h"
#include "executor/run/index_hosts.h"
#include "executor/run/stream.h"
#include "executor/runtime.h"
#include "executor/session/session.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"

#include <stdio.h>
#include <string.h>

enum {
	MIB = 1 << 20,
	FILES = 100000, /* of a package; pandas has 3,000 */
	FETCHED = 1024, /* entries of a box that fetches */
	VIEW_BYTES = 4 * MIB,
	VIEW_FILES = 16384,
	AT_ONCE = 4, /* installations */
	TEXT = 512,
};

static const char shown[] = ORDER_MOUNTED "/";

struct install {
	struct call *call;
	struct session_use use;
	struct stream stream;
	struct texts wanted;         /* requirements */
	struct texts arguments;      /* of the script that runs */
	struct installer *installer; /* runs a script now, or NULL */
	struct workspace_limits room;
	struct workspace *fetched; /* the wheels */
	struct box_mount mount;    /* of it, for a box that unpacks */
	struct box_mounts mounts;
	struct files_tree tree;  /* of it */
	size_t next;             /* entry of it */
	struct package_set *set; /* that the session gets */
	struct err over;         /* why it was stopped */
	int64_t began_us;
	struct packages_installed reply;
};

static size_t running;

static void unpack_next(struct install *);

/* ---- the end ---- */

static void
finish(struct install *in, const struct err *e)
{
	struct call *call = in->call;
	struct session *session = in->use.session;

	running--;
	session->installing = false;
	workspace_drop(in->fetched);
	files_tree_clear(&in->tree);
	package_set_put(in->set);
	texts_clear(&in->wanted);
	texts_clear(&in->arguments);
	stream_close(&in->stream);
	call->on_cancel = NULL;
	session_leave(&in->use);
	if (e == NULL)
		call_reply(call, &in->reply);
	else
		call_fail(call, e);
	message_clear(MSG_packages_installed, &in->reply);
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

static void
give_up(struct install *in, enum err_code code, const char *why)
{
	if (in->over.code == ERR_none)
		err_set(&in->over, code, "%s", why);
	if (in->installer != NULL)
		installer_cancel(in->installer);
}

static void
call_cancelled(struct call *call, enum err_code why)
{
	give_up(call->self, why, "the caller no longer waits for it");
}

static void
session_ended(void *self)
{
	give_up(self, ERR_cancelled, "the session was ended during the installation");
}

/* ---- a script ---- */

static void
show_progress(void *self, const char *data, size_t size)
{
	struct install *in = self;
	bool cut;
	struct blob text = utf8_fit(data, size, TEXT, " ... ", &cut);

	if (text.data != NULL)
		stream_progress(&in->stream, text.data);
	blob_clear(&text);
}

static int
run_script(struct install *in, const char *script, const struct texts *domains,
    const struct box_mounts *mounts,
    void (*done)(void *self, struct workspace *, const struct err *), struct err *e)
{
	const struct installer_ask ask = {
		.script = script,
		.arguments = &in->arguments,
		.domains = domains,
		.mounts = mounts,
		.room = &in->room,
		.owner = session_owner(in->use.session),
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
told(void *self, const struct err *e)
{
	struct install *in = self;

	if (failed(in, e))
		return;
	in->reply.seconds = (double)(loop_now_us() - in->began_us) / 1e6;
	finish(in, NULL);
}

static void
viewed(void *self, struct workspace *made, const struct err *e)
{
	struct install *in = self;
	struct err why;

	in->installer = NULL;
	in->set->view = made;
	if (!failed(in, e) && session_show(&in->use, in->set, told, in, &why) < 0)
		finish(in, &why);
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
	in->room = (struct workspace_limits){ VIEW_BYTES, VIEW_FILES };
	return run_script(in, "view", NULL, mounts, viewed, e);
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
	struct package_info *info = list_add(&in->reply.packages, sizeof *info);
	struct event_owner owner = session_owner(in->use.session);
	char detail[TEXT];

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
	snprintf(detail, sizeof detail, "%.200s %.100s sha256:%s", package->name, package->version,
	    package->sha256);
	event_note(&owner, (struct audit_event){ .event = event_package_installed,
			       .session_id = in->use.session->id,
			       .detail = detail });
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
	return run_script(in, "unpack", NULL, &in->mounts, unpacked, e);
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
	if (r < 0 || view(in, &e) < 0)
		finish(in, &e);
}

static void
listed(void *self, struct files_tree *tree, const struct err *e)
{
	struct install *in = self;
	struct err why;

	if (tree != NULL) {
		in->tree = *tree;
		*tree = (struct files_tree){ 0 };
	}
	if (failed(in, e))
		return;
	in->set = package_set_new(in->use.session->packages);
	if (in->set == NULL) {
		err_sys(&why, "packages");
		finish(in, &why);
		return;
	}
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
	const struct package_set *set = in->use.session->packages;
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
	    add_all(in, "x:", index_hosts_more(INDEX_pypi), e) < 0 || add_pins(in, e) < 0 ||
	    add_all(in, "r:", &in->wanted, e) < 0)
		return -1;
	in->room = (struct workspace_limits){ options.package_mb * MIB, FETCHED };
	return run_script(in, "fetch", index_hosts_of(INDEX_pypi), NULL, fetched, e);
}

static void
entered(void *self, struct workspace *workspace, const struct err *e)
{
	struct install *in = self;
	struct err why;

	(void)workspace;
	if (!failed(in, e) && fetch(in, &why) < 0)
		finish(in, &why);
}

/* ---- the call ---- */

static int
check(const struct install_package *ask, struct err *e)
{
	int language = ask->language != NULL ? runtime_find(ask->language, e) : language_python;

	if (language < 0)
		return -1;
	if (language != language_python)
		return err_set(
		    e, ERR_invalid_argument, "language: packages are installed for python only");
	if (!options.packages)
		return err_set(e, ERR_denied,
		    "the operator of this server does not allow packages (the setting packages)");
	if (index_hosts_url(INDEX_pypi) == NULL || index_hosts_of(INDEX_pypi)->count == 0)
		return err_set(e, ERR_unavailable,
		    "pip is not installed on this server, or is configured for no index with a "
		    "name");
	if (running >= AT_ONCE)
		return err_set(e, ERR_queue_full, "%d installations are under way", AT_ONCE);
	for (size_t i = 0; i < ask->packages.count; i++)
		if (strlen(ask->packages.items[i]) > 255 || ask->packages.items[i][0] == '\0')
			return err_set(e, ERR_invalid_argument,
			    "packages[%zu]: a name and versions take 1 to 255 bytes", i);
	return 0;
}

static int
enter(struct install *in, const char *session_id, struct err *e)
{
	bool made = false;
	struct session *session = session_of(in->call, session_id, &made, e);

	if (session == NULL)
		return -1;
	if (session->installing)
		return err_set(
		    e, ERR_session_busy, "session %s: an installation is under way", session->id);
	if (session_enter(session, SESSION_WRITE, &in->use, e) < 0)
		return -1;
	session->installing = true;
	in->reply.session_id = strdup(session->id);
	if (made)
		must(texts_add(&in->reply.notes, "A new default session was created.") == 0);
	return 0;
}

int
install_on_install_package(struct call *call, void *request, struct err *e)
{
	struct install_package *ask = request;
	struct install *in;

	if (check(ask, e) < 0)
		return -1;
	in = calloc(1, sizeof *in);
	if (in == NULL)
		return err_sys(e, "packages");
	*in = (struct install){
		.call = call,
		.use = { .ready = entered, .stop = session_ended, .self = in },
		.wanted = ask->packages,
		.began_us = loop_now_us(),
	};
	if (enter(in, ask->session_id, e) < 0) {
		free(in);
		return -1;
	}
	ask->packages = (struct texts){ 0 };
	running++;
	stream_open(&in->stream, call, 0);
	call->self = in;
	call->on_cancel = call_cancelled;
	session_wait(&in->use);
	return 0;
}
