/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.c - makes the box and program of a run, and makes them again if they died before they got
 * the code.
 *
 * Theory of operation.  A run uses an idle program; if there is none, one is started; if there is
 * no box, one is made.  If a box is ending, the run waits for that, because two boxes of one
 * sandbox must not use its workspace at once.  If the program ended before it got the code, it is
 * started once more, from its file if the first was a fork: so a failing zygote costs time but
 * fails no call.
 *
 * Trusts box.h to report each end exactly once.
 */
#include "executor/sandbox/sandbox.h"

#include "executor/builder/order.h"
#include "executor/sandbox/box_listen.h"
#include "executor/sandbox/workspace.h"

#include "common/base/auto.h"
#include "common/base/log.h"

#include <string.h>

enum {
	TRIES = 2,
};

/* The program of one language; the index in the table is the language. */
struct resident {
	struct sandbox *sandbox;
	struct program *program; /* NULL: there is none */
	bool ready;              /* it was idle before its first code */
	bool warm;               /* it was idle before the current run */
	bool ran;                /* it has definitions of a statement */
	bool lost;               /* definitions were lost, and that was not reported yet */
	struct texts names;      /* names after its last run */
	unsigned mounted;        /* which mounts it was told of */
};

struct sandbox {
	enum sandbox_kind kind;
	const struct workspace *workspace;
	struct box_limits limits;
	const struct bridges *bridges; /* NULL: none */
	struct box_mounts mounts;      /* packages */
	unsigned mounted;              /* number of the calls that changed them */
	bool user_base;                /* its boxes have one */
	char *certificate;             /* that its boxes trust, too; NULL: none */
	struct box *box;               /* NULL: there is none */
	struct resident residents[ORDER_MAX_RUNTIMES];

	void (*changed)(void *self, const struct err *e);
	void *watcher;

	bool busy; /* with a run */
	struct sandbox_code code;
	struct sandbox_events events;
	void *self;
	struct resident *runner; /* the program that got the code; NULL: none yet */
	unsigned tries;
	bool stopped; /* the result is no longer wanted */

	bool ending;
	void (*gone)(void *waiter);
	void *waiter;
};

static const struct program_events resident_events;

static void
settle(struct sandbox *h)
{
	void (*gone)(void *) = h->gone;
	void *waiter = h->waiter;

	if (!h->ending || h->box != NULL)
		return;
	for (size_t i = 0; i < COUNT(h->residents); i++)
		texts_clear(&h->residents[i].names);
	free((void *)(uintptr_t)h->mounts.items);
	free(h->certificate);
	free(h);
	if (gone != NULL)
		gone(waiter);
}

/* ---- a run ---- */

/* The callback may end the sandbox. */
static void
end_run(struct sandbox *h, struct box_end *end, const struct err *e)
{
	struct sandbox_events events = h->events;
	void *self = h->self;

	h->busy = false;
	h->runner = NULL;
	free((void *)(uintptr_t)take_ptr(h->code.code.data));
	blob_clear(&h->code.code.guard);
	events.done(self, end, e);
}

static void on_box_ended(void *self, const struct err *);

static const struct box_mount user_base_item = { .place = ORDER_USER_BASE };
static const struct box_mounts user_base = { &user_base_item, 1 };

static int
make_box(struct sandbox *h, struct err *e)
{
	if (h->box != NULL)
		return 0;
	h->box = box_make(&h->limits, h->workspace, on_box_ended, h, e);
	if (h->box == NULL || (h->user_base && box_mount(h->box, &user_base, NULL, NULL, e) < 0))
		return -1;
	if (h->certificate != NULL && box_trust(h->box, h->certificate, NULL, NULL, e) < 0)
		return -1;
	return h->mounts.count > 0 ? box_mount(h->box, &h->mounts, NULL, NULL, e) : 0;
}

static int
start_program(struct sandbox *h, unsigned language, uint32_t zygote, bool wanted, struct err *e)
{
	const struct program_spec spec = {
		.language = language,
		.zygote = zygote,
		.alone = h->kind == SANDBOX_ALONE,
		.wanted = wanted,
	};
	struct resident *r = &h->residents[language];

	if (make_box(h, e) < 0)
		return -1;
	texts_clear(&r->names);
	*r = (struct resident){ .sandbox = h, .lost = r->lost };
	r->program = program_start(h->box, &spec, &resident_events, r, e);
	if (r->program == NULL)
		return -1;
	if (h->bridges != NULL)
		bridge_send(h->bridges, r->program);
	return 0;
}

/* 0: a program has the code, or a box that is ending delays the run. */
static int
attempt(struct sandbox *h, struct err *e)
{
	struct resident *r = &h->residents[h->code.language];

	h->runner = NULL;
	if (h->box != NULL && box_is_ending(h->box))
		return 0;
	h->tries++;
	if (r->program == NULL && start_program(h, h->code.language, h->code.zygote, true, e) < 0)
		return -1;
	h->code.code.packages = h->code.language == language_python && r->mounted != h->mounted;
	r->mounted = h->mounted;
	if (program_run(r->program, &h->code.code, e) < 0)
		return -1;
	h->runner = r;
	return 0;
}

/* The program that was to run the code ended before it ran. */
static void
try_again(struct sandbox *h, const struct err *why)
{
	struct err e;

	if (h->stopped || h->tries >= TRIES) {
		end_run(h, NULL, why);
		return;
	}
	h->code.zygote = 0;
	if (attempt(h, &e) < 0)
		end_run(h, NULL, &e);
}

int
sandbox_run(struct sandbox *h, const struct sandbox_code *code, const struct sandbox_events *events,
    void *self, struct err *e)
{
	must(!h->busy && !h->ending && code->language < COUNT(h->residents));
	struct blob copy = blob_copy(code->code.data, code->code.size);

	if (copy.data == NULL)
		return err_sys(e, "code");
	struct blob guard = code->code.guard;

	if (guard.data != NULL && (guard = blob_copy(guard.data, guard.size)).data == NULL) {
		blob_clear(&copy);
		return err_sys(e, "guard");
	}
	h->code = *code;
	h->code.code.data = copy.data;
	h->code.code.guard = guard;
	h->events = *events;
	h->self = self;
	h->tries = 0;
	h->stopped = false;
	h->busy = true;
	if (attempt(h, e) == 0)
		return 0;
	h->busy = false;
	free(copy.data);
	blob_clear(&h->code.code.guard);
	return -1;
}

void
sandbox_interrupt(struct sandbox *h)
{
	if (!h->busy)
		return;
	h->stopped = true;
	if (h->runner != NULL)
		program_interrupt(h->runner->program);
}

void
sandbox_kill(struct sandbox *h)
{
	h->stopped = true;
	if (h->box != NULL)
		box_kill(h->box);
}

/* ---- events of programs and boxes ---- */

static void
tell_change(struct sandbox *h, const struct err *e)
{
	if (h->changed != NULL)
		h->changed(h->watcher, e);
}

static void
on_ready(void *self)
{
	struct resident *r = self;

	r->ready = true;
	if (r->sandbox->runner != r)
		r->warm = true;
	tell_change(r->sandbox, NULL);
}

static void
on_output(void *self, enum channel channel, const void *data, size_t size)
{
	struct sandbox *h = ((struct resident *)self)->sandbox;

	if (h->busy && h->events.output != NULL)
		h->events.output(h->self, channel, data, size);
}

/* Without memory the names count as unknown. */
static void
note_names(struct resident *r, const struct texts *names)
{
	texts_clear(&r->names);
	for (size_t i = 0; r->sandbox->kind == SANDBOX_SESSION && i < names->count; i++)
		if (texts_add(&r->names, names->items[i]) < 0)
			texts_clear(&r->names);
}

static void
on_done(void *self, struct box_end *end)
{
	struct resident *r = self;

	end->warm = r->warm || !end->cold;
	end->restarted = r->lost;
	r->warm = true; /* the next statement finds it running */
	r->lost = false;
	r->ran = !end->program_gone;
	note_names(r, &end->variables);
	if (end->lost.code != ERR_none)
		end_run(r->sandbox, NULL, &end->lost);
	else
		end_run(r->sandbox, end, NULL);
}

static void
on_ended(void *self, const struct err *e)
{
	struct resident *r = self;
	struct sandbox *h = r->sandbox;
	bool wanted = h->busy && h->runner == r;
	struct err why = *e;

	r->program = NULL;
	r->lost = r->lost || r->ran;
	r->ready = r->ran = false;
	texts_clear(&r->names);
	if (why.code == ERR_none)
		err_set(&why, ERR_unavailable, "the interpreter ended before it got the code");
	tell_change(h, &why);
	if (wanted)
		try_again(h, &why);
}

static const struct program_events resident_events = { on_ready, on_output, on_done, on_ended };

static void
on_box_ended(void *self, const struct err *e)
{
	struct sandbox *h = self;
	struct err why = *e;

	h->box = NULL;
	if (h->ending) {
		settle(h);
		return;
	}
	if (!h->busy || h->runner != NULL)
		return;
	if (h->stopped)
		err_set(&why, ERR_cancelled, "the program was not started");
	if (h->stopped || attempt(h, &why) < 0)
		end_run(h, NULL, &why);
}

/* ---- its life ---- */

struct sandbox *
sandbox_new(
    enum sandbox_kind kind, const struct workspace *workspace, const struct box_limits *limits)
{
	struct sandbox *h = calloc(1, sizeof *h);

	if (h != NULL)
		*h = (struct sandbox){ .kind = kind, .workspace = workspace, .limits = *limits };
	return h;
}

int
sandbox_prepare(struct sandbox *h, unsigned language, uint32_t zygote, bool wanted, struct err *e)
{
	must(h->box == NULL && language < COUNT(h->residents));
	return start_program(h, language, zygote, wanted, e);
}

void
sandbox_watch(struct sandbox *h, void (*changed)(void *self, const struct err *e), void *self)
{
	h->changed = changed;
	h->watcher = self;
}

bool
sandbox_is_ready(const struct sandbox *h, unsigned language)
{
	return h->box != NULL && !box_is_ending(h->box) && h->residents[language].ready;
}

void
sandbox_end(struct sandbox *h, void (*gone)(void *self), void *self)
{
	must(!h->busy);
	h->ending = true;
	h->changed = NULL;
	h->gone = gone;
	h->waiter = self;
	if (h->box != NULL)
		box_kill(h->box);
	settle(h);
}

static void
drop(void *workspace)
{
	workspace_drop(workspace);
}

void
sandbox_wipe(struct sandbox *h, struct workspace *workspace)
{
	if (h != NULL)
		sandbox_end(h, drop, workspace);
	else
		workspace_drop(workspace);
}

const struct texts *
sandbox_variables(const struct sandbox *h, unsigned language)
{
	must(language < COUNT(h->residents));
	return &h->residents[language].names;
}

void
sandbox_set_bridges(struct sandbox *h, const struct bridges *bridges)
{
	h->bridges = bridges;
}

int
sandbox_bridge(struct sandbox *h, const char *key, const struct blob *json, struct err *e)
{
	int status = 0;

	for (size_t i = 0; i < COUNT(h->residents); i++)
		if (h->residents[i].program != NULL &&
		    program_bridge(h->residents[i].program, key, json, e) < 0)
			status = -1;
	return status;
}

int
sandbox_listen(struct sandbox *h, const uint16_t ports[BOX_PORTS],
    void (*done)(void *self, int *fds, size_t nfds, const struct err *e), void *self, struct err *e)
{
	if (make_box(h, e) < 0)
		return -1;
	if (box_is_ending(h->box))
		return err_set(e, ERR_unavailable, "the box is ending; call again");
	return box_listen(h->box, ports, done, self, e);
}

static bool
has_mount(const struct box_mounts *mounts, const struct box_mount *mount)
{
	for (size_t i = 0; i < mounts->count; i++)
		if (mounts->items[i].place == mount->place)
			return mounts->items[i].workspace == mount->workspace;
	return false;
}

/* A box that has the old mounts gets those that it lacks. */
static int
mount_new(struct sandbox *h, const struct box_mounts *old,
    void (*done)(void *self, const struct err *e), void *self, struct err *e)
{
	struct box_mount items[ORDER_PLACES];
	struct box_mounts new = { items, 0 };

	if (h->box == NULL || box_is_ending(h->box)) {
		if (done != NULL)
			done(self, NULL);
		return 0;
	}
	for (size_t i = 0; i < h->mounts.count; i++)
		if (!has_mount(old, &h->mounts.items[i]))
			items[new.count++] = h->mounts.items[i];
	return box_mount(h->box, &new, done, self, e);
}

int
sandbox_mount(struct sandbox *h, const struct box_mounts *mounts,
    void (*done)(void *self, const struct err *e), void *self, struct err *e)
{
	const struct box_mounts old = h->mounts;
	size_t size = mounts->count * sizeof *mounts->items;
	struct box_mount *copy = malloc(size + 1);

	must(mounts->count <= ORDER_PLACES);
	must(copy != NULL); /* otherwise the sandbox would keep workspaces that may go */
	if (size > 0)
		memcpy(copy, mounts->items, size);
	h->mounts = (struct box_mounts){ copy, mounts->count };
	h->mounted++;

	int r = mount_new(h, &old, done, self, e);

	free((void *)(uintptr_t)old.items);
	return r;
}

int
sandbox_user_base(
    struct sandbox *h, void (*done)(void *self, const struct err *e), void *self, struct err *e)
{
	bool had = h->user_base;

	h->user_base = true;
	if (!had)
		h->mounted++;
	if (!had && h->box != NULL && !box_is_ending(h->box))
		return box_mount(h->box, &user_base, done, self, e);
	done(self, NULL);
	return 0;
}

int
sandbox_trust(struct sandbox *h, const char *certificate,
    void (*done)(void *self, const struct err *e), void *self, struct err *e)
{
	char *copy = strdup(certificate);

	if (copy == NULL)
		return err_sys(e, "certificate");
	free(h->certificate);
	h->certificate = copy;
	if (h->box != NULL && !box_is_ending(h->box))
		return box_trust(h->box, certificate, done, self, e);
	done(self, NULL);
	return 0;
}
