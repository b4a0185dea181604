/* SPDX-License-Identifier: Apache-2.0 */
/*
 * install.c - what the installations of all languages have in common: the beginning, scripts in
 * boxes, and one end.  Trusts the files of the languages (wheels.c, modules.c) to call back.
 */
#include "executor/packages/install.h"
#include "executor/packages/install_inner.h"
#include "executor/sandbox/workspace.h"

#include "executor/environment.h"
#include "executor/options.h"
#include "executor/run/network/index_hosts.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	AT_ONCE = 4,                /* installations */
	AT_ONCE_EACH = AT_ONCE - 1, /* of one principal */
	LEAST = 16 << 20,           /* bytes for a script */
	TEXT = 512,
};

static const struct ecosystem {
	unsigned language;
	enum index_kind index;
	const char *installer;
	int (*prepare)(struct install *, struct err *);
	int (*begin)(struct install *, struct err *);
} ecosystems[] = {
	{ language_python, INDEX_pypi, "pip", wheels_prepare, wheels_begin },
	{ language_node, INDEX_npm, "npm", modules_prepare, modules_begin },
};

static struct install *installs; /* that run now */

/* NULL: there are no packages for the language. */
static const struct ecosystem *
ecosystem_of(unsigned language)
{
	for (size_t i = 0; i < COUNT(ecosystems); i++)
		if (ecosystems[i].language == language)
			return &ecosystems[i];
	return NULL;
}

static int
check_count(const char *principal, struct err *e)
{
	size_t all = 0, own = 0;

	for (const struct install *in = installs; in != NULL; in = in->next_install) {
		all++;
		own += strcmp(in->ask.owner.owner->principal, principal) == 0;
	}
	if (own >= AT_ONCE_EACH)
		return err_set(e, ERR_queue_full, "%zu of your installations are under way", own);
	return all < AT_ONCE ? 0
	                     : err_set(e, ERR_queue_full, "%zu installations are under way", all);
}

/* ---- the end ---- */

static void
leave(struct install *in)
{
	struct install **at = &installs;

	while (*at != in)
		at = &(*at)->next_install;
	*at = in->next_install;
}

void
install_finish(struct install *in, const struct err *e)
{
	struct package_set *set = e == NULL ? take_ptr(in->set) : NULL;

	leave(in);
	in->ask.done(in->ask.self, set, &in->list, e);
	workspace_drop(in->fetched);
	files_tree_clear(&in->tree);
	package_set_put(in->set);
	texts_clear(&in->wanted);
	texts_clear(&in->arguments);
	texts_clear(&in->domains);
	message_clear(MSG_packages_installed, &in->list);
	free(in->key);
	free(in);
}

/* true: the installation is over, and this call has finished it. */
bool
install_failed(struct install *in, const struct err *e)
{
	struct err why = in->over.code != ERR_none ? in->over : e != NULL ? *e : in->over;

	if (why.code == ERR_none)
		return false;
	install_finish(in, &why);
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

void
install_progress(void *self, const char *data, size_t size)
{
	struct install *in = self;
	bool cut;
	struct blob text = utf8_fit(data, size, TEXT, " ... ", &cut);

	if (text.data != NULL && in->ask.progress != NULL)
		in->ask.progress(in->ask.self, text.data);
	blob_clear(&text);
}

int
install_script(struct install *in, const char *script, const struct texts *domains,
    const struct box_mounts *mounts,
    void (*done)(void *self, struct workspace *, const struct err *), struct err *e)
{
	const struct installer_ask ask = {
		.script = script,
		.arguments = &in->arguments,
		.domains = domains,
		.mounts = mounts,
		.room = in->room.bytes > 0 ? &in->room : NULL,
		.environment = in->ask.environment,
		.owner = in->ask.owner,
		.output = domains != NULL ? install_progress : NULL,
		.done = done,
		.self = in,
	};

	in->installer = installer_begin(&ask, e);
	return in->installer != NULL ? 0 : -1;
}

int
install_room(struct install *in, uint64_t files, struct err *e)
{
	uint64_t room = package_room(), most = options.package_mb << 20;

	if (room < LEAST)
		return err_set(e, ERR_limit_exceeded,
		    "packages: those in use take the %" PRIu64 " MiB of the setting packages_mb; "
		    "end sessions that no longer need theirs",
		    options.packages_mb);
	in->room = (struct workspace_limits){ room < most ? room : most, files };
	return 0;
}

int
install_argument(struct install *in, const char *kind, const char *text, struct err *e)
{
	auto_free char *argument = NULL;

	return asprintf(&argument, "%s%s", kind, text) < 0 ||
	               texts_add(&in->arguments, argument) < 0
	           ? err_sys(e, "packages")
	           : 0;
}

int
install_arguments(struct install *in, const char *kind, const struct texts *texts, struct err *e)
{
	for (size_t i = 0; i < texts->count; i++)
		if (install_argument(in, kind, texts->items[i], e) < 0)
			return -1;
	return 0;
}

/* ---- what was installed ---- */

void
install_record(const struct install *in)
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

/* ---- the beginning ---- */

static void
begin(void *self)
{
	struct install *in = self;
	struct err e;

	if (install_failed(in, NULL))
		return;

	if (ecosystem_of(in->ask.language)->begin(in, &e) < 0)
		install_finish(in, &e);
}

static int
check(const struct install_ask *ask, struct err *e)
{
	const struct ecosystem *eco = ecosystem_of(ask->language);

	if (eco == NULL)
		return err_set(e, ERR_invalid_argument,
		    "language: packages are installed for python and node only");
	if (!options.packages)
		return err_set(e, ERR_denied,
		    "the operator of this server does not allow packages (the setting packages)");
	if (options.usr_local && eco->index == INDEX_pypi)
		return err_set(e, ERR_isolation_unavailable,
		    "programs see /usr/local of the host (the setting usr_local), where packages "
		    "would be");
	if (environment_needs_host(ask->environment, "packages", e) < 0)
		return -1;
	if (ask->build && (!options.package_builds || ask->language != language_python))
		return err_set(e, ERR_denied, "build: %s",
		    options.package_builds
			? "only packages of Python are built from source"
			: "the operator of this server does not allow it (the setting "
			  "package_builds)");
	if (index_hosts_url(eco->index) == NULL || index_hosts_of(eco->index)->count == 0)
		return err_set(e, ERR_unavailable,
		    "%s is not installed on this server, or is configured for no index with a "
		    "name",
		    eco->installer);
	if (check_count(ask->owner.owner->principal, e) < 0)
		return -1;
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
	return ecosystem_of(in->ask.language)->prepare(in, e);
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
	in->next_install = installs;
	installs = in;
	loop_after(0, begin, in);
	return in;
}
