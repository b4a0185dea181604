/* SPDX-License-Identifier: Apache-2.0 */
/* run_packages.c - the packages that a run names: its session's from then on, or its own box's. */
#include "executor/run/run_inner.h"

#include "common/base/auto.h"

#include <stdio.h>

enum {
	NOTE = 1024,
};

static int
note(struct run *run, const struct packages_installed *list)
{
	char text[NOTE];
	size_t n = (size_t)snprintf(text, sizeof text, "Installed: ");

	/* Nobody asked for what its language needs. */
	if (run->plan.typed && list->packages.count == 1)
		return 0;

	for (size_t i = 0; i < list->packages.count && n < sizeof text; i++)
		n +=
		    (size_t)snprintf(text + n, sizeof text - n, "%s%.100s %.50s", i > 0 ? ", " : "",
			list->packages.items[i].name, list->packages.items[i].version);
	return texts_add(&run->reply.notes, text);
}

/* A cell of a notebook goes on after a line that fails. */
static void
go_on(struct run *run, const struct err *e)
{
	char text[NOTE];

	if (e != NULL && e->code != ERR_none && run->plan.runs_without) {
		snprintf(text, sizeof text, "Not installed: %s", e->text);
		if (texts_add(&run->reply.notes, text) == 0)
			e = NULL;
	}
	run->borrowed(run, e);
}

static void
shown(void *self, const struct err *e)
{
	struct run *run = self;

	if (run->use.session != NULL)
		run->use.session->installing = false;
	go_on(run, e);
}

static void
installed(void *self, struct package_set *set, struct packages_installed *list, const struct err *e)
{
	struct run *run = self;
	struct err why;
	int r = -1;

	run->install = NULL;
	run->packages = set;
	if (set == NULL)
		why = *e;
	else if (note(run, list) < 0)
		err_sys(&why, "packages");
	else if (run->use.session != NULL)
		r = session_show(&run->use, set, shown, run, &why);
	else
		r = sandbox_mount(run->place, package_set_mounts(set), shown, run, &why);
	if (r < 0)
		shown(run, &why);
}

static void
show_progress(void *self, const char *text)
{
	struct run *run = self;

	stream_progress(&run->stream, text);
}

static int
begin(struct run *run, struct err *e)
{
	struct session *session = run->use.session;
	const struct install_ask ask = {
		.language = run->plan.language == language_node ? language_node : language_python,
		.packages = &run->plan.packages,
		.environment = run->plan.limits.box.environment,
		.from = session != NULL ? session->packages : NULL,
		.owner = run_owner(run),
		.session_id = session != NULL ? session->id : NULL,
		.progress = show_progress,
		.done = installed,
		.self = run,
	};

	if (session != NULL && session->installing)
		return err_set(
		    e, ERR_session_busy, "session %s: an installation is under way", session->id);
	run->install = install_begin(&ask, e);
	if (run->install != NULL && session != NULL)
		session->installing = true;
	return run->install != NULL ? 0 : -1;
}

void
run_install(struct run *run, void (*then)(struct run *, const struct err *))
{
	struct err e;

	run->borrowed = then;
	if (run->plan.packages.count == 0)
		then(run, NULL);
	else if (begin(run, &e) < 0)
		go_on(run, &e);
}
