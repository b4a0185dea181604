/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_tools.c - installs packages into a session, one installation at a time.
 *
 * The session changes over when the new set is whole, so a step that fails or a process that is
 * killed leaves its packages as they were.
 */
#include "executor/tools/package_tools.h"

#include "executor/files/files.h"
#include "executor/options.h"
#include "executor/packages/install.h"
#include "executor/packages/requirements.h"
#include "executor/run/own_limits.h"
#include "executor/run/stream.h"
#include "executor/runtime.h"
#include "executor/session/session.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

enum {
	MOST = 64, /* packages; of schema.def */
	FILE_BYTES = 64 << 10,
};

/* The file of a workspace that says what its programs need. */
static const struct file {
	const char *name;
	int (*read)(const struct blob *, size_t most, struct texts *, struct err *);
} files[] = {
	[language_python] = { "requirements.txt", requirements_read },
	[language_node] = { "package.json", requirements_of_manifest },
};

struct installing {
	struct call *call;
	struct session_use use;
	struct stream stream;
	struct texts wanted;
	unsigned language;
	bool from_workspace; /* what its file names, too */
	bool unusual;        /* names that look like misspellings, too */
	bool build;
	struct install *install; /* NULL: it has not begun, or has ended */
	struct package_set *set;
	struct err over; /* why it was stopped */
	int64_t began_us;
	struct packages_installed reply;
};

static void
finish(struct installing *in, const struct err *e)
{
	struct call *call = in->call;

	in->use.session->installing = false;
	stream_close(&in->stream);
	call->on_cancel = NULL;
	session_leave(&in->use);
	package_set_put(in->set);
	texts_clear(&in->wanted);
	in->reply.seconds = (double)(loop_now_us() - in->began_us) / 1e6;
	if (e == NULL)
		call_reply(call, &in->reply);
	else
		call_fail(call, e);
	message_clear(MSG_packages_installed, &in->reply);
	free(in);
}

static void
give_up(struct installing *in, enum err_code code, const char *why)
{
	if (in->over.code == ERR_none)
		err_set(&in->over, code, "%s", why);
	if (in->install != NULL)
		install_cancel(in->install);
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

static void
show_progress(void *self, const char *text)
{
	struct installing *in = self;

	stream_progress(&in->stream, text);
}

static void
shown(void *self, const struct err *e)
{
	finish(self, e);
}

static void
installed(void *self, struct package_set *set, struct packages_installed *list, const struct err *e)
{
	struct installing *in = self;
	struct err why = in->over.code != ERR_none || e == NULL ? in->over : *e;

	in->install = NULL;
	in->set = set;
	in->reply.packages = list->packages;
	list->packages.items = NULL;
	list->packages.count = 0;
	if (why.code != ERR_none || session_show(&in->use, set, shown, in, &why) < 0)
		finish(in, &why);
}

static void
begin(struct installing *in)
{
	const struct install_ask ask = {
		.packages = &in->wanted,
		.language = in->language,
		.unusual = in->unusual,
		.build = in->build,
		.environment = in->use.session->limits.box.environment,
		.from = in->use.session->packages,
		.owner = session_owner(in->use.session),
		.session_id = in->use.session->id,
		.progress = show_progress,
		.done = installed,
		.self = in,
	};
	struct err why = in->over;

	if (why.code == ERR_none)
		in->install = install_begin(&ask, &why);
	if (in->install == NULL)
		finish(in, &why);
}

static void
file_read(void *self, struct blob *content, const struct err *e)
{
	struct installing *in = self;
	struct err why;

	if (content == NULL) {
		finish(in, e);
	} else if (files[in->language].read(content, MOST, &in->wanted, &why) < 0) {
		finish(in, &why);
	} else if (in->wanted.count == 0) {
		err_set(&why, ERR_invalid_argument, "from_workspace: %s names no package",
		    files[in->language].name);
		finish(in, &why);
	} else {
		begin(in);
	}
}

static void
entered(void *self, struct workspace *workspace, const struct err *e)
{
	struct installing *in = self;

	if (workspace == NULL)
		finish(in, e);
	else if (in->from_workspace)
		files_read(workspace, files[in->language].name, FILE_BYTES, file_read, in);
	else
		begin(in);
}

static int
check(const struct install_package *ask, unsigned language, struct err *e)
{
	if (ask->packages.count == 0 && !ask->from_workspace)
		return err_set(e, ERR_invalid_argument,
		    "packages: name at least one, or pass from_workspace=true");
	if (ask->from_workspace && (language >= COUNT(files) || files[language].name == NULL))
		return err_set(e, ERR_invalid_argument,
		    "from_workspace: reads requirements.txt for python, and package.json for node");
	return 0;
}

/* A namespace has no default session, so that it shares none with another. */
static struct session *
session_wanted(
    const struct call *call, const struct install_package *ask, bool *made, struct err *e)
{
	const struct session_wish wish = {
		.ttl_s = options.session_ttl,
		.limits = *own_limits_of(&call->owner),
		.namespace = ask->tenant,
	};

	if (ask->session_id != NULL || namespace_equal(ask->tenant, NULL))
		return session_for(ask->tenant, session_of(call, ask->session_id, made, e), e);
	return session_new(call, &wish, e);
}

static int
enter(struct installing *in, const struct install_package *ask, struct err *e)
{
	bool made = false;
	struct session *session = session_wanted(in->call, ask, &made, e);

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
package_tools_on_install_package(struct call *call, void *request, struct err *e)
{
	struct install_package *ask = request;
	struct installing *in;

	int language = ask->language != NULL ? runtime_find(ask->language, e) : language_python;

	if (language < 0 || check(ask, (unsigned)language, e) < 0)
		return -1;
	in = calloc(1, sizeof *in);
	if (in == NULL)
		return err_sys(e, "packages");
	*in = (struct installing){
		.call = call,
		.use = { .ready = entered, .stop = session_ended, .self = in },
		.language = (unsigned)language,
		.unusual = ask->unusual_names,
		.build = ask->build,
		.from_workspace = ask->from_workspace,
		.began_us = loop_now_us(),
	};
	if (enter(in, ask, e) < 0) {
		free(in);
		return -1;
	}
	in->wanted = ask->packages;
	ask->packages = (struct texts){ 0 };
	stream_open(&in->stream, call, 0);
	call->self = in;
	call->on_cancel = call_cancelled;
	session_wait(&in->use);
	return 0;
}
