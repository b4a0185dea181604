/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box_run.c - boxes without daemons: one JSON object a line in, one a line out, any number at once.
 *
 * For the escape tests and for whoever wants to look at a box.  Asked
 *   {"id": 1, "code": "print(1)", "wall_ms": 5000, "memory_mb": 512, "workspace": "a", ...}
 * it answers when nothing of the box is left; first of all it says what holds a box here.  A named
 * workspace stays for later programs, until {"drop": "a"}; an unnamed one goes with its program.
 * {"kill": 1} ends the program asked for under that id.  "language", "zygote" and "container" are
 * numbers; with "session": true the code is a statement, and its box and program stay as long as
 * the workspace.  "mounts": [["a", 0], ["b", 128]] shows what other named workspaces have as
 * packages, at the places of order.h.
 *
 * Its arguments are the builder's.
 */
#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"
#include "executor/builder/order.h"
#include "executor/sandbox/builder.h"
#include "executor/sandbox/sandbox.h"
#include "executor/sandbox/workspace.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>

enum {
	MAX_LINE = 8 << 20,
	MAX_WORKSPACES = 256,
	READY_MS = 20000, /* of the builder */
};

struct place {
	char *name; /* NULL: free */
	struct workspace *workspace;
	struct sandbox *session; /* NULL: there is none yet */
};

struct run {
	struct run *next;
	json_t *ask;
	struct sandbox *sandbox;
	bool keeps_sandbox;    /* it is a session's */
	json_t *reply;         /* that waits for nothing to be left */
	struct workspace *own; /* goes with it */
};

static struct place places[MAX_WORKSPACES];
static struct run *runs;
static bool ended;
static char *input;
static size_t input_size;

static void
say(json_t *object)
{
	auto_free char *line = json_dumps(object, JSON_COMPACT);

	json_decref(object);
	if (line != NULL)
		puts(line);
	fflush(stdout);
}

static json_t *
text_of(const struct blob *blob)
{
	struct blob mended = utf8_mend(blob->data, blob->size);
	json_t *text = json_stringn(mended.data, mended.size);

	blob_clear(&mended);
	return text;
}

static json_t *
texts_of(const struct texts *texts)
{
	json_t *array = json_array();

	for (size_t i = 0; i < texts->count; i++)
		json_array_append_new(array, json_string(texts->items[i]));
	return array;
}

static json_t *
isolation_json(const struct isolation *isolation)
{
	return json_pack("{s:s, s:o, s:o, s:s}", "backend", isolation->backend, "layers",
	    texts_of(&isolation->layers), "missing", texts_of(&isolation->missing), "limits_by",
	    isolation->limits_by);
}

/* Nothing of it is left. */
static void
run_gone(void *self)
{
	struct run *run = self;
	struct run **at = &runs;

	while (*at != run)
		at = &(*at)->next;
	*at = run->next;
	workspace_drop(run->own);
	say(run->reply);
	json_decref(run->ask);
	free(run);
	if (runs == NULL && ended)
		loop_stop();
}

/* Takes the reply. */
static void
run_over(struct run *run, json_t *reply)
{
	struct sandbox *sandbox = run->sandbox;

	run->reply = reply;
	run->sandbox = NULL;
	if (sandbox != NULL && !run->keeps_sandbox)
		sandbox_end(sandbox, run_gone, run);
	else
		run_gone(run);
}

static void
refuse(struct run *run, const struct err *e)
{
	run_over(run, json_pack("{s:O?, s:s, s:s}", "id", json_object_get(run->ask, "id"), "error",
			  err_name(e->code), "text", e->text));
}

static void
on_done(void *self, struct box_end *end, const struct err *e)
{
	static const char *const how[] = {
		[BOX_EXITED] = "exited",
		[BOX_SIGNALLED] = "signalled",
		[BOX_TIMED_OUT] = "timed_out",
		[BOX_OUT_OF_MEMORY] = "out_of_memory",
		[BOX_OUT_OF_CPU] = "out_of_cpu",
		[BOX_KILLED] = "killed",
	};
	struct run *run = self;

	if (end == NULL) {
		refuse(run, e);
		return;
	}
	json_t *o = json_pack("{s:O?, s:s, s:i, s:i, s:f, s:f, s:I, s:b, s:o, s:o, s:b, s:b}", "id",
	    json_object_get(run->ask, "id"), "how", how[end->how], "exit_code", end->exit_code,
	    "signal", end->signal, "wall_ms", end->wall_ms, "cpu_ms", end->cpu_ms,
	    "max_memory_bytes", (json_int_t)end->max_memory_bytes, "too_many_processes",
	    end->too_many_processes, "out", text_of(&end->out), "err", text_of(&end->err),
	    "out_truncated", end->out_dropped > 0, "err_truncated", end->err_dropped > 0);

	json_object_set_new(o, "warm", json_boolean(end->warm));
	json_object_set_new(o, "restarted", json_boolean(end->restarted));
	json_object_set_new(o, "program_gone", json_boolean(end->program_gone));
	json_object_set_new(o, "isolation", isolation_json(&end->isolation));
	json_object_set_new(o, "variables", texts_of(&end->variables));
	if (end->result.data != NULL)
		json_object_set_new(o, "result", text_of(&end->result));
	if (end->error_type != NULL)
		json_object_set_new(o, "error_type", json_string(end->error_type));
	run_over(run, o);
}

static uint64_t
number(const json_t *ask, const char *name, uint64_t fallback)
{
	const json_t *value = json_object_get(ask, name);

	return json_is_integer(value) ? (uint64_t)json_integer_value(value) : fallback;
}

static struct box_limits
limits_of(const json_t *ask)
{
	return (struct box_limits){
		.memory_bytes = number(ask, "memory_mb", 256) << 20,
		.cpu_milli = number(ask, "cpu_milli", 1000),
		.processes = number(ask, "processes", 64),
		.open_files = number(ask, "open_files", 256),
		.tmp_bytes = number(ask, "tmp_mb", 16) << 20,
		.container = number(ask, "container", 0),
	};
}

/* The session's of that workspace, or one for this run alone. */
static struct sandbox *
sandbox_for(struct run *run, struct place *place, struct workspace *workspace)
{
	const struct box_limits limits = limits_of(run->ask);

	run->keeps_sandbox = place != NULL && json_is_true(json_object_get(run->ask, "session"));
	if (!run->keeps_sandbox)
		return sandbox_new(SANDBOX_ALONE, workspace, &limits);
	if (place->session == NULL)
		place->session = sandbox_new(SANDBOX_SESSION, workspace, &limits);
	return place->session;
}

static struct place *
find(const char *name)
{
	for (size_t i = 0; name != NULL && i < COUNT(places); i++)
		if (places[i].name != NULL && strcmp(places[i].name, name) == 0)
			return &places[i];
	return NULL;
}

static void
run_code(void *self, const struct err *why)
{
	static const struct sandbox_events events = { NULL, on_done };
	struct run *run = self;
	const json_t *code = json_object_get(run->ask, "code"), *ask = run->ask;
	const struct sandbox_code what = {
		.language = (unsigned)number(ask, "language", language_python),
		.zygote = (uint32_t)number(ask, "zygote", 0),
		.code = {
			.data = json_string_value(code),
			.size = json_string_length(code),
			.wall_ms = number(ask, "wall_ms", 20000),
			.cpu_ms = number(ask, "cpu_ms", 0),
			.output_bytes = number(ask, "output_bytes", 1 << 20),
			.statement = run->keeps_sandbox,
		},
	};
	struct err e;

	if (why != NULL)
		refuse(run, why);
	else if (sandbox_run(run->sandbox, &what, &events, run, &e) < 0)
		refuse(run, &e);
}

/* Runs the code when they are there. */
static int
mount_all(struct run *run, struct err *e)
{
	struct box_mount items[ORDER_PLACES];
	const json_t *list = json_object_get(run->ask, "mounts"), *pair;
	size_t i;

	json_array_foreach(list, i, pair)
	{
		const char *name = json_string_value(json_array_get(pair, 0));
		struct place *place = name != NULL ? find(name) : NULL;

		must(i < COUNT(items) && (place != NULL || name == NULL));
		items[i].workspace = place != NULL ? place->workspace : NULL;
		items[i].place = (unsigned)json_integer_value(json_array_get(pair, 1));
	}

	const struct box_mounts mounts = { items, json_array_size(list) };

	return sandbox_mount(run->sandbox, &mounts, run_code, run, e);
}

static void
start(struct run *run, struct place *place, struct workspace *workspace)
{
	struct err e;

	run->sandbox = sandbox_for(run, place, workspace);
	must(run->sandbox != NULL);
	if (!json_is_array(json_object_get(run->ask, "mounts")))
		run_code(run, NULL);
	else if (mount_all(run, &e) < 0)
		refuse(run, &e);
}

static void
on_workspace(void *self, struct workspace *workspace, const struct err *e)
{
	struct run *run = self;
	const char *name = json_string_value(json_object_get(run->ask, "workspace"));

	if (workspace == NULL) {
		refuse(run, e);
		return;
	}
	if (name == NULL) {
		run->own = workspace;
		start(run, NULL, workspace);
		return;
	}
	for (size_t i = 0; i < COUNT(places); i++)
		if (places[i].name == NULL) {
			places[i] = (struct place){ strdup(name), workspace, NULL };
			start(run, &places[i], workspace);
			return;
		}
	must(false);
}

static void
drop(struct place *place)
{
	if (place == NULL)
		return;
	sandbox_wipe(place->session, place->workspace);
	free(place->name);
	*place = (struct place){ 0 };
}

static void
kill_run(const json_t *id)
{
	for (struct run *run = runs; id != NULL && run != NULL; run = run->next)
		if (run->sandbox != NULL && json_equal(json_object_get(run->ask, "id"), id))
			sandbox_interrupt(run->sandbox);
}

static void
on_line(const char *line)
{
	json_error_t why;
	json_t *ask = json_loads(line, JSON_ALLOW_NUL, &why);
	const char *name = json_string_value(json_object_get(ask, "workspace"));

	if (json_string_value(json_object_get(ask, "code")) == NULL) {
		drop(find(json_string_value(json_object_get(ask, "drop"))));
		kill_run(json_object_get(ask, "kill"));
		json_decref(ask);
		return;
	}
	struct run *run = calloc(1, sizeof *run);

	must(run != NULL);
	*run = (struct run){ .next = runs, .ask = ask };
	runs = run;
	if (find(name) != NULL) {
		start(run, find(name), find(name)->workspace);
		return;
	}
	const struct workspace_limits limits = {
		.bytes = number(ask, "disk_mb", 64) << 20,
		.files = number(ask, "files", 4096),
	};

	workspace_make(&limits, on_workspace, run);
}

static void
on_input(void *self, uint32_t events)
{
	ssize_t n = read(STDIN_FILENO, input + input_size, MAX_LINE - input_size - 1);
	char *line = input, *end;

	(void)self, (void)events;
	if (n <= 0) {
		loop_forget(STDIN_FILENO);
		ended = true;
		if (runs == NULL)
			loop_stop();
		return;
	}
	input_size += (size_t)n;
	input[input_size] = '\0';
	for (; (end = memchr(line, '\n', input_size - (size_t)(line - input))) != NULL;
	     line = end + 1) {
		*end = '\0';
		on_line(line);
	}
	input_size -= (size_t)(line - input);
	memmove(input, line, input_size);
}

/* As an executor's jail does, when the builder is there. */
static void
take_descriptors(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

int
main(int argc, char **argv)
{
	const struct texts arguments = { argv + 1, (size_t)argc - 1 };
	struct err e;

	input = malloc(MAX_LINE);
	if (input == NULL || builder_open(&arguments, READY_MS, &e) < 0 || loop_open(&e) < 0 ||
	    builder_start(&e) < 0 || loop_watch(STDIN_FILENO, EPOLLIN, on_input, NULL, &e) < 0) {
		fprintf(stderr, "box_run: %s\n", input == NULL ? "no memory" : e.text);
		return 1;
	}
	take_descriptors();
	say(json_pack("{s:o}", "isolation", isolation_json(builder_isolation())));
	if (loop_run(&e) < 0)
		fprintf(stderr, "box_run: %s\n", e.text);
	for (size_t i = 0; i < COUNT(places); i++)
		if (places[i].name != NULL)
			drop(&places[i]);
	builder_stop();
	loop_close();
	free(input);
	return 0;
}
