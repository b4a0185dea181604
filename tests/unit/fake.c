/* SPDX-License-Identifier: Apache-2.0 */
/* fake.c - implements fake.h. */
#include "fake.h"

#include "executor/options.h"
#include "executor/run/check/policy.h"
#include "executor/run/limits.h"
#include "executor/runtime.h"
#include "executor/sandbox/workspace.h"
#include "executor/session/share.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/loop.h"
#include "common/daemon/daemon.h"
#include "common/daemon/handover.h"
#include "common/journal/spool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct fake fake;

struct workspace {
	uint32_t id;
	int boxes; /* on it */
};

static struct {
	uint64_t id;
	int64_t due_ms;
	void (*fire)(void *self);
	void *self;
} timers[FAKE_MAX];
static uint64_t last_id;

void
fake_reset(void)
{
	memset(&fake, 0, sizeof fake);
	fake.now_ms = 1000000;
	memset(timers, 0, sizeof timers);
	share_forget();
}

int
fake_options(struct err *e)
{
	char name[] = "executor", *argv[] = { name, NULL };

	for (const struct setting *s = options_table; s->name != NULL; s++) {
		if (s->kind != KIND_TEXT)
			continue;
		free(*(char **)s->to);
		*(char **)s->to = NULL;
	}
	texts_clear(&options_imports);
	if (settings_read("executor", NULL, options_table, 1, argv, e) < 0)
		return -1;
	if (options_check(e) < 0 || limits_settle(e) < 0 || share_settle(e) < 0 ||
	    policy_check_profile(options.profile, language_python, e) < 0)
		return -1;
	return runtime_open(e);
}

/* ---- loop.h ---- */

int64_t
loop_now_ms(void)
{
	return fake.now_ms;
}

int64_t
loop_now_us(void)
{
	return fake.now_ms * 1000;
}

uint64_t
loop_after(int64_t ms, void (*fire)(void *self), void *self)
{
	for (size_t i = 0; i < FAKE_MAX; i++) {
		if (timers[i].fire != NULL)
			continue;
		timers[i].id = ++last_id;
		timers[i].due_ms = fake.now_ms + ms;
		timers[i].fire = fire;
		timers[i].self = self;
		return timers[i].id;
	}
	abort();
}

void
loop_unset(uint64_t id)
{
	for (size_t i = 0; i < FAKE_MAX; i++)
		if (id != 0 && timers[i].id == id)
			timers[i].fire = NULL;
}

size_t
fake_pass(int64_t ms)
{
	size_t fired = 0;

	fake_bury();
	fake.now_ms += ms;
	for (size_t i = 0; i < FAKE_MAX; i++) {
		void (*fire)(void *) = timers[i].fire;

		if (fire == NULL || timers[i].due_ms > fake.now_ms)
			continue;
		timers[i].fire = NULL;
		fire(timers[i].self);
		fired++;
	}
	return fired;
}

/* ---- daemon.h, fdio.h, spool.h ---- */

const char *
daemon_instance(void)
{
	return "e1";
}

int
daemon_state(void)
{
	return -1;
}

/* A key that is always the same: ids of one test are known to the next, as after a restart.  An
 * environment is an image if its name says so. */
int
fdio_load(int dir, const char *name, size_t limit, struct blob *blob, struct err *e)
{
	static const char key[] = "0123456789abcdef0123456789abcdef";
	static const char seed[] = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n";
	static const char image[] = "/usr/bin/python3 11\n";
	const char *text = strcmp(name, "artifact.key") == 0      ? seed
	                   : strstr(name, "-image/image") != NULL ? image
	                                                          : key;

	(void)dir, (void)limit, (void)e;
	*blob = blob_copy(text, strlen(text));
	return 0;
}

/* No test has a settings file. */
int
fdio_load_given(const char *path, size_t limit, struct blob *blob, struct err *e)
{
	(void)limit, (void)blob;
	return err_set(e, ERR_not_found, "%s", path);
}

int
fdio_store(int dir, const char *name, const void *data, size_t size, mode_t mode, struct err *e)
{
	(void)dir, (void)name, (void)data, (void)size, (void)mode, (void)e;
	return 0;
}

const char *
spool_checkpoint(void)
{
	return "a checkpoint";
}

int
spool_record(struct audit_event *event, struct err *e)
{
	if (fake.spool_full)
		return err_set(e, ERR_unavailable, "the spool is full");
	assert_non_null(event->principal);
	fake.events[fake.nevents++] = event->event;
	return 0;
}

size_t
fake_count(enum event event)
{
	size_t n = 0;

	for (size_t i = 0; i < fake.nevents; i++)
		n += fake.events[i] == (int)event;
	return n;
}

/* ---- bus.h, serving ---- */

struct fake_call *
fake_call(enum msg_id message, const char *principal)
{
	struct fake_call *c = calloc(1, sizeof *c);

	assert_non_null(c);
	c->call = (struct call){
		.from = PEER_gateway,
		.message = message,
		.trace = "",
		.deadline_ms = INT64_MAX,
	};
	assert_true(owner_set(&c->call.owner, principal, NULL));
	return c;
}

void
fake_forget(struct fake_call *c)
{
	assert_int_equal(c->ended, 1);
	if (c->why.code == ERR_none)
		message_clear(messages[c->call.message].reply, &c->reply);
	free(c);
}

void
call_reply(struct call *call, void *reply)
{
	struct fake_call *c = (struct fake_call *)call;
	size_t size = messages[messages[call->message].reply].size;

	c->ended++;
	assert_true(size <= sizeof c->reply);
	memcpy(&c->reply, reply, size);
	memset(reply, 0, size);
}

void
call_fail(struct call *call, const struct err *e)
{
	struct fake_call *c = (struct fake_call *)call;

	assert_int_not_equal(e->code, ERR_none);
	c->ended++;
	c->why = *e;
}

int
call_stream(struct call *call, struct stream_part *part)
{
	((struct fake_call *)call)->parts++;
	if (part->channel == channel_stdout)
		strncat(fake.stream, part->text.data, part->text.size);
	blob_clear(&part->text);
	return 0;
}

/* ---- bus.h, asking ---- */

uint64_t
bus_ask(const struct ask *ask, struct err *e)
{
	(void)e;
	assert_true(fake.nasks < FAKE_MAX);
	fake.asks[fake.nasks] = (struct fake_ask){ .ask = *ask, .id = ++last_id };
	return fake.asks[fake.nasks++].id;
}

void
bus_cancel(uint64_t id)
{
	struct err e;

	err_set(&e, ERR_cancelled, "cancelled");
	for (size_t i = 0; i < fake.nasks; i++) {
		struct fake_ask *a = &fake.asks[i];

		if (a->id != id || a->done)
			continue;
		a->done = true;
		a->ask.done(a->ask.self, NULL, &e);
	}
}

bool
bus_ready(enum peer peer, struct heartbeat *load)
{
	(void)peer, (void)load;
	return true;
}

const char *
bus_asked(uint64_t id)
{
	(void)id;
	return "1";
}

size_t
bus_instances(enum peer peer, const char **names, size_t room)
{
	(void)peer, (void)room;
	names[0] = "1";
	return 1;
}

int
handover_give(enum peer self, enum peer server, const char *instance,
    const struct handover *handover, struct err *e)
{
	(void)self, (void)server, (void)instance, (void)handover, (void)e;
	return 0;
}

const struct bus_counts *
bus_counts(void)
{
	return &fake.counts;
}

struct fake_ask *
fake_asked(enum msg_id message)
{
	for (size_t i = 0; i < fake.nasks; i++)
		if (!fake.asks[i].done && fake.asks[i].ask.message == message)
			return &fake.asks[i];
	return NULL;
}

void
fake_answer(enum msg_id message, void *reply, const struct err *e)
{
	struct fake_ask *a = fake_asked(message);

	assert_non_null(a);
	a->done = true;
	a->ask.done(a->ask.self, reply, e);
}

/* ---- workspaces and files ---- */

/* Makes room: what is over is of no more interest. */
static void
compact(void)
{
	size_t open = 0;

	for (size_t i = 0; i < fake.nwork; i++)
		if (!fake.work[i].over)
			fake.work[open++] = fake.work[i];
	fake.nwork = open;
}

struct fake_work *
fake_add(enum fake_kind kind, void *done, void *self)
{
	if (fake.nwork == FAKE_MAX)
		compact();
	assert_true(fake.nwork < FAKE_MAX);

	struct fake_work *w = &fake.work[fake.nwork++];

	*w = (struct fake_work){ .kind = kind, .done = done, .self = self };
	return w;
}

struct fake_work *
fake_find(enum fake_kind kind)
{
	for (size_t i = 0; i < fake.nwork; i++)
		if (!fake.work[i].over && fake.work[i].kind == kind)
			return &fake.work[i];
	return NULL;
}

struct fake_work *
fake_over(enum fake_kind kind)
{
	struct fake_work *w = fake_find(kind);

	assert_non_null(w);
	w->over = true;
	return w;
}

void
workspace_make(const struct workspace_limits *limits,
    void (*done)(void *self, struct workspace *, const struct err *), void *self)
{
	(void)limits;
	fake_add(FAKE_WORKSPACE, (void *)done, self);
}

/* As it had been left; which, the test sees. */
void
workspace_adopt(uint32_t id, const struct workspace_limits *limits,
    void (*done)(void *self, struct workspace *, const struct err *), void *self)
{
	(void)limits;
	fake.adopted = id;
	fake_add(FAKE_WORKSPACE, (void *)done, self);
}

void
fake_make(const struct err *e)
{
	struct fake_work *w = fake_over(FAKE_WORKSPACE);
	void (*done)(void *, struct workspace *, const struct err *) = w->done;
	struct workspace *made = e == NULL ? calloc(1, sizeof *made) : NULL;

	fake.workspaces += made != NULL;
	if (made != NULL)
		made->id = ++fake.workspace;
	done(w->self, made, e);
}

uint32_t
workspace_id(const struct workspace *workspace)
{
	return workspace->id;
}

/* Nothing may use it any more. */
void
workspace_drop(struct workspace *workspace)
{
	if (workspace == NULL)
		return;
	for (size_t i = 0; i < fake.nwork; i++)
		assert_false(!fake.work[i].over && fake.work[i].workspace == workspace);
	assert_int_equal(workspace->boxes, 0);
	fake.workspaces--;
	free(workspace);
}

void
fake_occupy(struct workspace *workspace, int boxes)
{
	workspace->boxes += boxes;
}

int
workspace_left(
    const struct workspace *workspace, struct workspace_limits *left, bool *bare, struct err *e)
{
	(void)workspace, (void)e;
	*left = (struct workspace_limits){ 1 << 20, fake.full ? 0 : 100 };
	*bare = !fake.holds_files;
	return 0;
}

void
files_list(struct workspace *workspace, size_t limit, uint64_t hash_limit,
    void (*done)(void *self, struct files_tree *, const struct err *), void *self)
{
	(void)limit, (void)hash_limit;
	fake_add(FAKE_LIST, (void *)done, self)->workspace = workspace;
}

void
files_tree_clear(struct files_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		message_clear(MSG_tree_entry, &tree->items[i]);
	free(tree->items);
	texts_clear(&tree->skipped);
	*tree = (struct files_tree){ 0 };
}

static char *
copy(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

void
fake_list(struct tree_entry *items, size_t count, const struct err *e)
{
	struct fake_work *w = fake_over(FAKE_LIST);
	void (*done)(void *, struct files_tree *, const struct err *) = w->done;
	struct files_tree tree = { .items = calloc(count + 1, sizeof *items), .count = count };

	for (size_t i = 0; i < count; i++) {
		tree.items[i] = items[i];
		tree.items[i].path = copy(items[i].path);
		tree.items[i].sha256 = copy(items[i].sha256);
		tree.items[i].target = copy(items[i].target);
	}
	done(w->self, e == NULL ? &tree : NULL, e);
	files_tree_clear(&tree);
}

void
files_read(struct workspace *workspace, const char *path, uint64_t limit,
    void (*done)(void *self, struct blob *content, const struct err *), void *self)
{
	struct fake_work *w = fake_add(FAKE_READ, (void *)done, self);

	(void)limit;
	w->workspace = workspace;
	w->path = path;
}

void
files_read_piece(struct workspace *workspace, const char *path, struct files_piece *piece,
    void (*done)(void *self, struct blob *content, const struct err *), void *self)
{
	files_read(workspace, path, piece->limit, done, self);
	piece->total = piece->offset + 1000;
}

void
files_type(struct workspace *workspace, const char *path,
    void (*done)(void *self, const char *type, const struct err *), void *self)
{
	struct fake_work *w = fake_add(FAKE_TYPE, (void *)done, self);

	w->workspace = workspace;
	w->path = path;
}

void
fake_type(const char *type, const struct err *e)
{
	struct fake_work *w = fake_over(FAKE_TYPE);
	void (*done)(void *, const char *, const struct err *) = w->done;

	done(w->self, type, e);
}

void
fake_read(const char *content, const struct err *e)
{
	struct fake_work *w = fake_over(FAKE_READ);
	void (*done)(void *, struct blob *, const struct err *) = w->done;
	struct blob blob = content != NULL ? blob_text(content) : (struct blob){ 0 };

	done(w->self, e == NULL ? &blob : NULL, e);
	blob_clear(&blob);
}

void
files_write(struct workspace *workspace, const char *path, struct blob *content, bool overwrite,
    void (*done)(void *self, const struct err *), void *self)
{
	struct fake_work *w = fake_add(FAKE_WRITE, (void *)done, self);

	(void)overwrite;
	w->workspace = workspace;
	w->path = path;
	blob_clear(content);
}

void
files_append(struct workspace *workspace, const char *path, struct blob *content, uint64_t offset,
    void (*done)(void *self, const struct err *), void *self)
{
	assert_true(offset > 0);
	files_write(workspace, path, content, false, done, self);
}

void
fake_write(const struct err *e)
{
	struct fake_work *w = fake_over(FAKE_WRITE);
	void (*done)(void *, const struct err *) = w->done;

	done(w->self, e);
}

void
files_fill(struct workspace *workspace, const struct tree_entry *entries, size_t count,
    void (*want)(void *self, size_t entry), void (*done)(void *self, const struct err *),
    void *self)
{
	struct fake_work *w = fake_add(FAKE_FILL, (void *)done, self);

	(void)entries, (void)count;
	w->workspace = workspace;
	w->want = (void *)want;
}

void
fake_fill(const struct err *e)
{
	struct fake_work *w = fake_over(FAKE_FILL);
	void (*done)(void *, const struct err *) = w->done;

	done(w->self, e);
}

void
files_give(struct workspace *workspace, struct blob *content, const struct err *why)
{
	(void)workspace, (void)why;
	if (content == NULL)
		return;
	fake.given++;
	blob_clear(content);
}
