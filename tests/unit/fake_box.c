/* SPDX-License-Identifier: Apache-2.0 */
/* fake_box.c - the boxes and programs of fake.h. */
#include "executor/kept/code.h"
#include "executor/run/day_use.h"
#include "executor/sandbox/box_listen.h"
#include "executor/sandbox/builder.h"
#include "executor/sandbox/isolation.h"

#include "fake.h"

#include "common/base/auto.h"
#include "common/base/work.h"
#include "common/rights/rights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct box {
	struct box *next;
	struct workspace *workspace;
	void (*ended)(void *self, const struct err *e);
	void *self;
	bool killed;
};

struct program {
	struct program *next;
	struct box *box;
	struct program_spec spec;
	struct program_events events;
	void *self;
	bool ready, runs, killed;
	char *code; /* that waits for it to be ready */
	struct program_code how;
};

static struct box *boxes;
static struct program *programs;

/* ---- work.h ---- */

void
work_over(struct work *w, size_t bytes)
{
	if (bytes > WORK_BYTES) {
		fake_add(FAKE_THREAD, w, NULL);
		return;
	}
	w->run(w);
	w->done(w);
}

void
fake_thread(void)
{
	struct work *w = fake_over(FAKE_THREAD)->done;

	w->run(w);
	w->done(w);
}

/* ---- box.h ---- */

struct box *
box_make(const struct box_limits *limits, const struct workspace *workspace,
    void (*ended)(void *self, const struct err *e), void *self, struct err *e)
{
	struct box *box = calloc(1, sizeof *box);

	(void)e;
	assert_non_null(box);
	assert_true(limits->memory_bytes > 0 && limits->processes > 0);
	*box = (struct box){
		.next = boxes,
		.workspace = (struct workspace *)(uintptr_t)workspace,
		.ended = ended,
		.self = self,
	};
	boxes = box;
	fake.boxes++;
	fake_occupy(box->workspace, 1);
	return box;
}

void
isolation_entitle(uint32_t container, const char *title)
{
	assert_true(container != 0 && title[0] != '\0');
}

const char *
isolation_title(uint32_t container)
{
	return container != 0 ? "container" : "";
}

const struct isolation *
builder_isolation(void)
{
	static char limits_by[] = "cgroup";
	static const struct isolation isolation = { .limits_by = limits_by };

	return &isolation;
}

/* No test has the setting require_layers. */
int
isolation_allow(uint32_t container, struct err *e)
{
	(void)container, (void)e;
	return 0;
}

bool
box_is_ending(const struct box *box)
{
	return box->killed;
}

int
box_mount(struct box *box, const struct box_mounts *mounts,
    void (*done)(void *self, const struct err *), void *self, struct err *e)
{
	(void)box, (void)e;
	fake.mounts += mounts->count;
	if (done != NULL)
		done(self, NULL);
	return 0;
}

int
box_trust(struct box *box, const char *certificate, void (*done)(void *self, const struct err *),
    void *self, struct err *e)
{
	(void)box, (void)certificate, (void)e;
	if (done != NULL)
		done(self, NULL);
	return 0;
}

/* No test has a run with a network. */
int
box_listen(struct box *box, const uint16_t ports[BOX_PORTS],
    void (*done)(void *self, int *fds, size_t nfds, const struct err *e), void *self, struct err *e)
{
	(void)box, (void)ports, (void)done, (void)self;
	return err_set(e, ERR_unavailable, "no network");
}

static struct fake_work *
work_of(const struct program *p)
{
	for (size_t i = 0; i < fake.nwork; i++)
		if (!fake.work[i].over && fake.work[i].program == p)
			return &fake.work[i];
	return NULL;
}

static void
mark(struct program *p)
{
	p->killed = true;
	if (p->runs)
		work_of(p)->killed = true;
}

void
box_kill(struct box *box)
{
	box->killed = true;
	for (struct program *p = programs; p != NULL; p = p->next)
		if (p->box == box)
			mark(p);
}

struct program *
program_start(struct box *box, const struct program_spec *spec, const struct program_events *events,
    void *self, struct err *e)
{
	struct program *p = calloc(1, sizeof *p);

	(void)e;
	assert_non_null(p);
	assert_false(box->killed);
	*p = (struct program){ programs, box, *spec, *events, self, .code = NULL };
	programs = p;
	fake.programs++;
	fake.forked += spec->zygote != 0;
	fake.started += spec->zygote == 0;
	fake.wanted += spec->wanted;
	return p;
}

static void
hand_over(struct program *p)
{
	struct fake_work *w = fake_add(FAKE_RUN, NULL, NULL);

	w->program = p;
	w->code = take_ptr(p->code);
	w->workspace = p->box->workspace;
	w->killed = p->killed;
	p->runs = true;
}

int
program_run(struct program *p, const struct program_code *code, struct err *e)
{
	(void)e;
	assert_false(p->runs || p->killed || p->code != NULL);
	assert_true(code->wall_ms > 0 && code->output_bytes > 0);
	assert_false(code->statement && p->spec.alone);
	p->code = strndup(code->data, code->size);
	p->how = *code;
	if (p->ready)
		hand_over(p);
	return 0;
}

int
program_bridge(struct program *p, const char *key, const struct blob *json, struct err *e)
{
	(void)p, (void)e;
	assert_true(strlen(key) > 0 && json->size > 0);
	fake.bridged++;
	return 0;
}

void
program_kill(struct program *p)
{
	if (p->spec.alone)
		box_kill(p->box);
	else
		mark(p);
}

void
program_interrupt(struct program *p)
{
	if (p->runs && p->how.statement)
		work_of(p)->killed = true;
	else
		program_kill(p);
}

/* ---- the script ---- */

static void
end_program(struct program *p, const struct err *e)
{
	struct program **at = &programs;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	fake.programs--;
	p->events.ended(p->self, e);
	free(p->code);
	free(p);
}

static struct program *
first_in(const struct box *box)
{
	struct program *p = programs;

	while (p != NULL && p->box != box)
		p = p->next;
	return p;
}

static void
end_box(struct box *box, const struct err *e)
{
	struct box **at = &boxes;

	box->killed = true;
	for (struct program *p; (p = first_in(box)) != NULL;)
		end_program(p, e);
	while (*at != box)
		at = &(*at)->next;
	*at = box->next;
	fake.boxes--;
	fake_occupy(box->workspace, -1);
	box->ended(box->self, e);
	free(box);
}

static bool
runs(const struct box *box)
{
	for (const struct program *p = programs; p != NULL; p = p->next)
		if (p->box == box && p->runs)
			return true;
	return false;
}

void
fake_bury(void)
{
	struct err cancelled;

	err_set(&cancelled, ERR_cancelled, "killed");
	for (struct box *box = boxes, *next; box != NULL; box = next) {
		next = box->next;
		if (box->killed && !runs(box)) {
			end_box(box, &cancelled);
			next = boxes; /* who was told may have ended others */
		}
	}
}

static struct program *
find(bool ready)
{
	struct program *found = NULL;

	for (struct program *p = programs; p != NULL; p = p->next)
		if (p->ready == ready && !p->runs && !p->killed)
			found = p; /* the list is newest first */
	return found;
}

bool
fake_ready(void)
{
	struct program *p = find(false);

	fake_bury();
	if (p == NULL)
		return false;
	p->ready = true;
	if (p->events.ready != NULL)
		p->events.ready(p->self);
	if (p->code != NULL)
		hand_over(p);
	return true;
}

bool
fake_die(const struct err *e)
{
	struct program *p = find(false) != NULL ? find(false) : find(true);

	fake_bury();
	if (p == NULL)
		return false;
	if (p->spec.alone)
		end_box(p->box, e);
	else
		end_program(p, e);
	return true;
}

const char *
fake_code(void)
{
	struct fake_work *w = fake_find(FAKE_RUN);

	return w != NULL ? w->code : NULL;
}

void
fake_output(const char *text)
{
	if (fake_find(FAKE_RUN) == NULL)
		fake_ready();

	struct program *p = fake_find(FAKE_RUN)->program;

	if (p->events.output != NULL)
		p->events.output(p->self, channel_stdout, text, strlen(text));
}

void
fake_end_run(struct box_end end)
{
	static const struct err fine = { .code = ERR_none };

	while (fake_find(FAKE_RUN) == NULL)
		assert_true(fake_ready());

	struct fake_work *w = fake_over(FAKE_RUN);
	struct program *p = w->program;
	bool over = p->spec.alone || p->box->killed || end.how == BOX_OUT_OF_MEMORY;

	if (w->killed)
		end.how = BOX_KILLED;

	bool gone = end.program_gone || over || p->killed;

	end.program_gone = gone;
	end.cold = p->spec.zygote == 0;
	end.isolation.backend = strdup("box");
	end.isolation.limits_by = strdup("rlimit");
	free(take_ptr(w->code));
	p->runs = false;
	p->box->killed = p->box->killed || over;
	p->events.done(p->self, &end);
	if (over)
		end_box(p->box, &fine);
	else if (gone)
		end_program(p, &fine);
	box_end_clear(&end);
}

/* ---- code.h ---- */

void
code_keep(const struct owner *owner, const char *execution_id, const struct blob *code)
{
	(void)owner, (void)execution_id, (void)code;
}

/* ---- rights.h ---- */

const struct rights *fake_rights;

const struct rights *
rights_of(const struct owner *owner)
{
	(void)owner;
	return fake_rights;
}

/* ---- day_use.h ---- */

void
day_use_add(const struct owner *owner, double cpu_ms, uint64_t bytes)
{
	(void)owner, (void)cpu_ms, (void)bytes;
}

int
day_use_check(const struct owner *owner, const struct rights *rights, struct err *e)
{
	(void)owner, (void)rights, (void)e;
	return 0;
}
