/* SPDX-License-Identifier: Apache-2.0 */
/*
 * installer.c - makes a workspace, a box on it, and for a script that fetches also a network; runs
 * the script, and returns the workspace when nothing of the box is left.
 *
 * Trusts nothing that the script says: its last words are shown to the caller, who may be the
 * author of the package.
 */
#include "executor/packages/installer.h"

#include "executor/options.h"
#include "executor/run/limits.h"
#include "executor/run/network/network.h"
#include "executor/run/pool.h"
#include "executor/runtime.h"
#include "executor/sandbox/workspace.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"

#include <stdio.h>
#include <string.h>

enum {
	WALL_MS = 600000,
	MEMORY_BYTES = 1 << 30,
	OUTPUT_BYTES = 64 << 10,
	WORDS = 300,     /* of an error */
	BAD_REQUEST = 3, /* exit statuses of the scripts: an argument is wrong; */
	COLLISION = 4,   /* the packages do not fit together */
};

struct installer {
	struct installer_ask ask;
	char code[96];
	unsigned language;
	char id[4 + 32 + 1]; /* of its network */
	struct limits limits;
	struct workspace *workspace;
	struct sandbox *sandbox;
	struct network network;
	struct known known; /* it knows no secrets */
	bool runs;
	struct err why; /* the reason of its end; ERR_none: success */
};

/* ---- the end ---- */

static void
box_gone(void *self)
{
	struct installer *i = self;
	struct installer_ask ask = i->ask;
	struct err why = i->why;
	struct workspace *made = i->workspace;

	if (why.code != ERR_none)
		workspace_drop(take_ptr(made));
	free(i);
	ask.done(ask.self, made, why.code != ERR_none ? &why : NULL);
}

static void
finish(struct installer *i, const struct err *e)
{
	if (e != NULL && i->why.code == ERR_none)
		i->why = *e;
	network_drop(&i->network);
	if (i->sandbox != NULL)
		sandbox_end(i->sandbox, box_gone, i);
	else
		box_gone(i);
}

static bool
failed(struct installer *i, const struct err *e)
{
	if (i->why.code == ERR_none && e == NULL)
		return false;
	finish(i, e);
	return true;
}

/* ---- running ---- */

/* The last line that does not belong to the one before, as an indented one does. */
static const char *
last_line(const char *data, const char **end)
{
	const char *at = data;

	while (*end > data) {
		at = memrchr(data, '\n', (size_t)(*end - data));
		at = at == NULL ? data : at + 1;
		if (at < *end && *at != ' ')
			break;
		*end = at > data ? at - 1 : data;
	}
	return at;
}

/* Of what it wrote to stderr, what says the most. */
static void
last_words(const struct blob *text, char words[WORDS])
{
	const char *data = text->data, *end = data + text->size;
	const char *at = last_line(data, &end);

	if (end - at > 7 && memcmp(at, "ERROR: ", 7) == 0)
		at += 7;

	bool cut;
	struct blob line = utf8_fit(at, (size_t)(end - at), WORDS - 1, " ... ", &cut);

	snprintf(words, WORDS, "%s", line.data != NULL ? (char *)line.data : "");
	utf8_tame(words);
	blob_clear(&line);
}

static void
read_end(struct installer *i, const struct box_end *end)
{
	char words[WORDS] = "";

	if (end->lost.code != ERR_none) {
		i->why = end->lost;
		return;
	}
	if (end->err.data != NULL)
		last_words(&end->err, words);
	if (end->how == BOX_EXITED && end->exit_code == 0)
		return;
	if (end->how == BOX_TIMED_OUT)
		err_set(&i->why, ERR_install_failed, "%s takes longer than %d s", i->ask.script,
		    WALL_MS / 1000);
	else if (end->how == BOX_OUT_OF_MEMORY)
		err_set(&i->why, ERR_install_failed, "%s takes more than %d MiB of memory",
		    i->ask.script, MEMORY_BYTES >> 20);
	else if (end->how == BOX_EXITED && end->exit_code == BAD_REQUEST)
		err_set(&i->why, ERR_invalid_argument, "%s", words);
	else
		err_set(&i->why, ERR_install_failed, "%s", words);
}

/* What the network refused explains a failure better than what pip makes of it. */
static void
blame_network(struct installer *i)
{
	for (size_t n = 0; n < i->network.report.attempts.count; n++) {
		const struct network_attempt *a = &i->network.report.attempts.items[n];

		if (a->refused == NULL)
			continue;
		err_set(&i->why, ERR_unavailable, "%s: the network refused %.200s:%d: %.100s%s",
		    i->ask.script, a->name, (int)a->port, a->refused,
		    strstr(a->refused, "not public") != NULL
			? " (the setting egress.allowed_networks permits private addresses)"
			: "");
		return;
	}
}

static void
network_over(void *self, const struct err *e)
{
	struct installer *i = self;

	(void)e;
	if (i->why.code == ERR_install_failed)
		blame_network(i);
	finish(i, NULL);
}

static void
code_done(void *self, struct box_end *end, const struct err *e)
{
	struct installer *i = self;

	i->runs = false;
	if (failed(i, e))
		return;
	must(end != NULL);
	read_end(i, end);
	if (i->network.up)
		network_end(&i->network, network_over, i);
	else
		finish(i, NULL);
}

static void
code_output(void *self, enum channel channel, const void *data, size_t size)
{
	struct installer *i = self;

	if (channel == channel_stdout && i->ask.output != NULL)
		i->ask.output(i->ask.self, data, size);
}

static void
run_script(void *self, const struct err *why)
{
	static const struct sandbox_events events = { code_output, code_done };
	struct installer *i = self;
	const struct sandbox_code code = {
		.language = i->language,
		.zygote = pool_zygote(
		    i->language, options.profile, i->limits.box.environment),
		.code = {
			.data = i->code,
			.size = strlen(i->code),
			.wall_ms = WALL_MS,
			.output_bytes = OUTPUT_BYTES,
			.arguments = i->ask.arguments,
		},
	};
	struct err e;

	if (failed(i, why))
		return;
	i->runs = sandbox_run(i->sandbox, &code, &events, i, &e) == 0;
	if (!i->runs)
		finish(i, &e);
}

/* ---- preparing ---- */

static int
begin_network(struct installer *i, struct err *e)
{
	memcpy(i->id, "pkg_", 4);
	hash_random_hex(i->id + 4, sizeof i->id - 4);
	i->network = (struct network){
		.id = i->id,
		.domains = i->ask.domains,
		.owner = i->ask.owner,
		.known = &i->known,
	};
	return network_begin(&i->network, i->sandbox, run_script, i, e);
}

/* Its box sees the mounts, or will before its program starts. */
static void
mounted(void *self, const struct err *e)
{
	struct installer *i = self;
	struct err why;

	if (failed(i, e))
		return;
	if (i->ask.domains == NULL)
		run_script(i, NULL);
	else if (begin_network(i, &why) < 0)
		finish(i, &why);
}

static void
workspace_ready(void *self, struct workspace *workspace, const struct err *e)
{
	static const struct box_mounts none;
	struct installer *i = self;
	struct err why;

	i->workspace = workspace;
	if (failed(i, workspace == NULL ? e : NULL))
		return;
	if (i->sandbox == NULL)
		i->sandbox = sandbox_new(SANDBOX_ALONE, workspace, &i->limits.box);
	if (i->sandbox == NULL) {
		err_sys(&why, "sandbox");
		finish(i, &why);
	} else if (sandbox_mount(i->sandbox, i->ask.mounts != NULL ? i->ask.mounts : &none, mounted,
		       i, &why) < 0)
		finish(i, &why);
}

static void
make_room(struct installer *i)
{
	if (i->limits.box.memory_bytes < MEMORY_BYTES)
		i->limits.box.memory_bytes = MEMORY_BYTES;
	i->limits.room = *i->ask.room;
	workspace_make(&i->limits.room, workspace_ready, i);
}

/* A script that needs little runs in a box that was made ahead of calls. */
static void
take_ready(void *self)
{
	struct installer *i = self;

	if (!pool_take(SANDBOX_ALONE, language_python,
		pool_zygote(language_python, options.profile, i->limits.box.environment),
		&i->limits, &i->workspace, &i->sandbox))
		workspace_make(&i->limits.room, workspace_ready, i);
	else
		workspace_ready(i, i->workspace, NULL);
	pool_refill();
}

struct installer *
installer_begin(const struct installer_ask *ask, struct err *e)
{
	struct installer *i = calloc(1, sizeof *i);

	if (i == NULL) {
		err_sys(e, "installer");
		return NULL;
	}
	*i = (struct installer){ .ask = *ask, .limits = limits_default };
	i->limits.box.environment = ask->environment;
	i->language = strstr(ask->script, ".js") != NULL ? language_node : language_python;
	snprintf(i->code, sizeof i->code,
	    i->language == language_node ? "require(\"/cloister/packages/%s\")"
					 : "exec(open(\"/cloister/packages/%s\").read())",
	    ask->script);
	if (ask->room != NULL)
		make_room(i);
	else
		loop_after(0, take_ready, i);
	return i;
}

void
installer_cancel(struct installer *i)
{
	if (i->why.code == ERR_none)
		err_set(&i->why, ERR_cancelled, "the caller no longer waits for it");
	if (i->runs)
		sandbox_kill(i->sandbox);
}
