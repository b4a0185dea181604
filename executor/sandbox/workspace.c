/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workspace.c - the executor's side of a workspace: a number, and a descriptor of the root that is
 * used only for its usage counts.
 *
 * Trusts the builder.  No name in a workspace is ever resolved in this process.
 */
#include "executor/sandbox/workspace.h"
#include "executor/sandbox/builder_link.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"

#include <sys/vfs.h>

struct workspace {
	uint32_t id;
	int root; /* O_PATH; -1: not made yet */
	void (*done)(void *self, struct workspace *, const struct err *);
	void *self;
	struct err refused;
	void (*leave)(const struct workspace *); /* before it is wiped; NULL: nobody asked */
};

static struct {
	struct workspace *all[ORDER_MAX_LIVING + 1];
	uint32_t last;
} workspaces;

static void
end(struct workspace *w, const struct err *why)
{
	workspaces.all[w->id] = NULL;
	w->done(w->self, NULL, why);
	free(w);
}

static void
refuse_later(void *self)
{
	struct workspace *w = self;

	w->done(w->self, NULL, &w->refused);
	free(w);
}

/* Chooses a number that is unused and was not used recently. */
static int
take_id(struct workspace *w, struct err *e)
{
	uint32_t id = workspaces.last, tries = 0;

	do
		id = id % ORDER_MAX_LIVING + 1;
	while (workspaces.all[id] != NULL && ++tries < ORDER_MAX_LIVING);
	if (workspaces.all[id] != NULL)
		return err_set(e, ERR_unavailable, "%d workspaces are in use, which is the limit",
		    ORDER_MAX_LIVING);
	workspaces.last = w->id = id;
	return 0;
}

/* id: the workspace to adopt, or 0. */
static int
order_one(struct workspace *w, uint32_t id, const struct workspace_limits *limits)
{
	struct order order = {
		.kind = ORDER_WORKSPACE,
		.adopt = id != 0,
		.bytes = limits->bytes,
		.files = limits->files,
	};

	if (id > ORDER_MAX_LIVING || (id != 0 && workspaces.all[id] != NULL))
		return err_set(&w->refused, ERR_internal, "workspace %u is in use already", id);
	w->id = id;
	if (id == 0 && take_id(w, &w->refused) < 0)
		return -1;
	order.id = w->id;
	if (builder_order(&order, &w->refused) < 0)
		return -1;
	workspaces.all[w->id] = w;
	return 0;
}

static void
begin(uint32_t id, const struct workspace_limits *limits,
    void (*done)(void *self, struct workspace *, const struct err *), void *self)
{
	struct workspace *w = calloc(1, sizeof *w);

	if (w == NULL) {
		struct err e;

		err_set(&e, ERR_internal, "no memory");
		done(self, NULL, &e);
		return;
	}
	*w = (struct workspace){ .root = -1, .done = done, .self = self };
	if (order_one(w, id, limits) < 0)
		loop_after(0, refuse_later, w);
}

void
workspace_make(const struct workspace_limits *limits,
    void (*done)(void *self, struct workspace *, const struct err *), void *self)
{
	begin(0, limits, done, self);
}

void
workspace_adopt(uint32_t id, const struct workspace_limits *limits,
    void (*done)(void *self, struct workspace *, const struct err *), void *self)
{
	must(id != 0);
	begin(id, limits, done, self);
}

void
workspace_clear(void)
{
	struct order order = { .kind = ORDER_CLEAR };
	struct err e;

	if (builder_order(&order, &e) < 0 && e.code != ERR_isolation_unavailable)
		log_error("the workspaces of an earlier builder were not wiped", LOG_E(&e));
}

static void
give_back(uint32_t id)
{
	struct order order = { .kind = ORDER_WIPE, .id = id };
	struct err e;

	if (builder_order(&order, &e) < 0 && e.code != ERR_unavailable)
		log_error("a workspace was not wiped", LOG_E(&e));
}

void
workspace_answered(const struct answer *answer, int fd)
{
	struct workspace *w = answer->id <= ORDER_MAX_LIVING ? workspaces.all[answer->id] : NULL;
	struct err why;

	if (w == NULL || w->root >= 0) {
		if (fd >= 0)
			close(fd);
		log_warn("the builder sent an unknown workspace", LOG_N("id", answer->id));
		return;
	}
	if (answer->error.code != ERR_none) {
		end(w, &answer->error);
		return;
	}
	if (fd < 0) {
		err_set(&why, ERR_unavailable, "the executor has no free descriptor");
		give_back(w->id);
		end(w, &why);
		return;
	}
	w->root = fd;
	w->done(w->self, w, NULL);
}

void
workspace_lost(const struct err *why)
{
	for (uint32_t id = 1; id <= ORDER_MAX_LIVING; id++)
		if (workspaces.all[id] != NULL && workspaces.all[id]->root < 0)
			end(workspaces.all[id], why);
}

void
workspace_at_end(struct workspace *w, void (*leave)(const struct workspace *))
{
	w->leave = leave;
}

void
workspace_drop(struct workspace *w)
{
	if (w == NULL)
		return;
	/* A lingering file helper must not be found for the next object at this address. */
	if (w->leave != NULL)
		w->leave(w);
	/* This is the last descriptor besides the builder's; the memory is free after the
	 * builder's part. */
	close(w->root);
	give_back(w->id);
	workspaces.all[w->id] = NULL;
	free(w);
}

int
workspace_left(const struct workspace *w, struct workspace_limits *left, bool *bare, struct err *e)
{
	struct statfs fs;

	if (fstatfs(w->root, &fs) < 0)
		return err_sys(e, "query the free space of a workspace");
	*left = (struct workspace_limits){ fs.f_bfree * (uint64_t)fs.f_bsize, fs.f_ffree };
	*bare = fs.f_files - fs.f_ffree <= 1; /* only the root */
	return 0;
}

uint32_t
workspace_id(const struct workspace *w)
{
	return w->id;
}
