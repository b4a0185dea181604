/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - where code of one run or of one session lives: a box on a workspace, and in it at
 * most one program of each language.
 *
 * What is missing is made when it is wanted, and made again after it died.  A box is never used by
 * another: a sandbox belongs to one principal, or to nobody yet (pool.h).
 */
#pragma once

#include "executor/sandbox/box.h"
#include "executor/sandbox/bridge.h"

struct sandbox;

/* What becomes of the code that is run in one. */
struct sandbox_events {
	/* As of program_events; may be NULL. */
	void (*output)(void *self, enum channel, const void *data, size_t size);
	/* Exactly once.  end NULL: it never ran, *e says why. */
	void (*done)(void *self, struct box_end *end, const struct err *e);
};

struct sandbox_code {
	unsigned language;
	uint32_t zygote; /* of a program that has to be started for it */
	struct program_code code;
};

/* A run for itself: its program is alone in its box.  Else a session's. */
enum sandbox_kind {
	SANDBOX_ALONE,
	SANDBOX_SESSION,
};

/* The workspace must outlive it.  Nothing is started yet.  NULL: no memory. */
struct sandbox *sandbox_new(enum sandbox_kind, const struct workspace *, const struct box_limits *);
/* Starts a program ahead of its code, so that it waits for that; wanted: somebody waits for it. */
int sandbox_prepare(
    struct sandbox *, unsigned language, uint32_t zygote, bool wanted, struct err *);
/* changed: a program waits now for its first code, or *e says why it does not (any more).  NULL:
 * nobody wants to know. */
void sandbox_watch(struct sandbox *, void (*changed)(void *self, const struct err *e), void *self);
/* Is there a program that waits for code of that language? */
bool sandbox_is_ready(const struct sandbox *, unsigned language);
/* Runs it, when what it needs is there; one at a time.  The code is copied. */
int sandbox_run(struct sandbox *, const struct sandbox_code *, const struct sandbox_events *,
    void *self, struct err *);
/* Ends what runs, by an interrupt where that leaves the program alive; done still comes. */
void sandbox_interrupt(struct sandbox *);
/* Ends the box and all in it; done still comes, and what is run next is run in a new one. */
void sandbox_kill(struct sandbox *);
/* Kills it, and frees it when nothing of it is left, which may be at once: then gone is called.
 * Nothing may run in it that somebody still waits for. */
void sandbox_end(struct sandbox *, void (*gone)(void *self), void *self);
/* The same, and then drops the workspace; either may be NULL. */
void sandbox_wipe(struct sandbox *, struct workspace *);
/* What the programs that are started in it are to be given; outlives it. */
void sandbox_set_bridges(struct sandbox *, const struct bridges *);
/* Gives one to those that live.  limit_exceeded. */
int sandbox_bridge(struct sandbox *, const char *key, const struct blob *json, struct err *);
/* Names that are defined in its program of that language, as that claimed; until the next run. */
const struct texts *sandbox_variables(const struct sandbox *, unsigned language);
