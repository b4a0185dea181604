/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - the place where the code of one run or of one session is executed: a box on a
 * workspace, and in the box at most one program of each language.
 *
 * Box and programs are made on demand, and made again after they died.  Principals never share a
 * box: a sandbox belongs to one principal, or to none yet (pool.h).
 */
#pragma once

#include "executor/sandbox/box.h"
#include "executor/sandbox/box_listen.h"
#include "executor/sandbox/bridge.h"

struct sandbox;

/* Callbacks of a run. */
struct sandbox_events {
	/* As in program_events; may be NULL. */
	void (*output)(void *self, enum channel, const void *data, size_t size);
	/* Exactly once.  end NULL: the code never ran, *e says why. */
	void (*done)(void *self, struct box_end *end, const struct err *e);
};

struct sandbox_code {
	unsigned language;
	uint32_t zygote; /* used if a program has to be started */
	struct program_code code;
};

/* SANDBOX_ALONE serves one run, and its program is alone in its box. */
enum sandbox_kind {
	SANDBOX_ALONE,
	SANDBOX_SESSION,
};

/* The workspace must outlive the sandbox.  Starts nothing yet.  NULL: no memory. */
struct sandbox *sandbox_new(enum sandbox_kind, const struct workspace *, const struct box_limits *);
/* Starts a program ahead of its code.  wanted: a call already waits for the program. */
int sandbox_prepare(
    struct sandbox *, unsigned language, uint32_t zygote, bool wanted, struct err *);
/* changed: a program now waits for its first code, or *e says why none does (any longer).  NULL:
 * stop watching. */
void sandbox_watch(struct sandbox *, void (*changed)(void *self, const struct err *e), void *self);
/* Does a program of that language wait for code? */
bool sandbox_is_ready(const struct sandbox *, unsigned language);
/* Runs the code as soon as box and program exist; one run at a time.  The code is copied. */
int sandbox_run(struct sandbox *, const struct sandbox_code *, const struct sandbox_events *,
    void *self, struct err *);
/* box_listen() in its box, which is made if there is none.  unavailable: the box is ending. */
int sandbox_listen(struct sandbox *, const uint16_t ports[BOX_PORTS],
    void (*done)(void *self, int *fds, size_t nfds, const struct err *e), void *self, struct err *);
/*
 * From now on its box, also one that is made later, has these mounts, which are copied; the
 * workspaces must outlive the sandbox or the next call.  done: exactly once, when they are there,
 * or with *e; NULL: nobody waits.  The next code of each program is told to look for packages.
 */
int sandbox_mount(struct sandbox *, const struct box_mounts *,
    void (*done)(void *self, const struct err *e), void *self, struct err *);
/* From now on its box, also one that is made later, has a place for what its programs install
 * (builder/user_base.h); each box an empty one.  done: as above. */
int sandbox_user_base(
    struct sandbox *, void (*done)(void *self, const struct err *e), void *self, struct err *);
/* From now on programs in its box, also in one that is made later, trust that authority, too, and
 * none of an earlier call.  The certificate in PEM is copied.  done: as above. */
int sandbox_trust(struct sandbox *, const char *certificate,
    void (*done)(void *self, const struct err *e), void *self, struct err *);
/* Stops the current run, with an interrupt if the program can survive that; done is still
 * called. */
void sandbox_interrupt(struct sandbox *);
/* Kills the box and everything in it; done is still called, and the next run gets a new box. */
void sandbox_kill(struct sandbox *);
/* Kills the box, frees the sandbox when nothing of it is left, and then calls gone, possibly
 * before returning.  No caller may still wait for a run in it. */
void sandbox_end(struct sandbox *, void (*gone)(void *self), void *self);
/* The same, and then drops the workspace; either may be NULL. */
void sandbox_wipe(struct sandbox *, struct workspace *);
/* The values for programs that are started later; they must outlive the sandbox. */
void sandbox_set_bridges(struct sandbox *, const struct bridges *);
/* Sends one value to the running programs.  limit_exceeded. */
int sandbox_bridge(struct sandbox *, const char *key, const struct blob *json, struct err *);
/* The names that its program of that language claims to have defined; valid until the next run. */
const struct texts *sandbox_variables(const struct sandbox *, unsigned language);
