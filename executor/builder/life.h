/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - what the builder knows of a box, a program or a steward while it lives; shared by
 * those who make them, watch them and end them.
 */
#pragma once

#include "executor/builder/confine/cage.h"

#include <sys/resource.h>

struct life {
	struct order order;
	pid_t pid;
	int pidfd, report;
	struct answer answer; /* as far as it is known */

	/* its end (life_kill.c) */
	bool doomed; /* to be killed as soon as it can be */
	bool asks;   /* the executor is to hear that it was killed */
	enum life_state { LIFE_LIVES, LIFE_WAITS, LIFE_KILLED } end;
	unsigned frees;     /* seccomp programs that are freed with it, once it was killed */
	struct life *later; /* is killed after it */

	/* a program's */
	struct life *box;
	int fds[ORDER_MAX_FDS]; /* until it is cloned */
	struct life *next;      /* of those that wait for the same box, or the same zygote */
	bool zombie, reaped;    /* its end was seen; its status is known */

	/* a box's */
	struct life *waiting; /* programs, until it is ready */
	unsigned programs;    /* that are in it or wait */
	bool dead; /* nothing of it lives; it is told when that was told of its programs */
	int net, tmp, spaces[HOST_NAMESPACES];
	bool has_group, used; /* used: code has run in it */
	bool over;            /* it held more memory than it may, */
	bool late;            /* or used more processor time */
	bool told;            /* that it was killed, and what it had used */
	bool strays;          /* a zygote may have left something in it that nobody knows of */
	uint32_t locks;       /* `over`, for so many locks of files */
	uint64_t last_us;     /* of processor time, 0: no limit */
	struct cgroup group;
	uint64_t timer;
	/* where no cgroup counts: most that was held, used by who ended, and by all */
	uint64_t held, used_us, spent_us;
	uint64_t told_us, told_refused; /* of what it has used: what was answered before */
	int64_t over_us;                /* when its last process had ended */
};

/* ---- lives.c ---- */

struct life *life_new(const struct order *);
void life_free(struct life *);
/* The one of that id, or NULL. */
struct life *life_of(uint32_t id);
/* Nobody finds it any more, its descriptors are closed, the last answer is sent. */
void life_end(struct life *);
/* It could not be started. */
void life_fail(struct life *, const struct err *);
/* Watches what a new process reports and when it ends.  One that cannot be watched is ended, and
 * gone when this returns. */
void life_watch(struct life *, void (*on_end)(void *self, uint32_t events));
/* What it has reported so far is taken; STARTED is told the executor when it comes. */
void life_listen(struct life *);
/* The same without telling anybody; the error that it reported. */
struct err life_note(struct life *);
/* It ended: nothing of it is watched any more. */
void life_forget(struct life *);
/* Its first process has ended, or is about to: waits for it, notes what it used. */
void life_note_end(struct life *);
/* To the executor, where it asked. */
void life_tell_killed(struct life *);

/* ---- life_kill.c ---- */

/* At once, or as soon as the kernel can bear it. */
void life_kill(struct life *);
/* At once, and uncounted: of what must be gone before anything else is done. */
void life_kill_now(struct life *);
/* false: it was killed and does not end within seconds. */
bool life_kill_await(const struct life *);
/* Nothing of it lives any more, or ever did. */
void life_kill_over(struct life *);
/* All boxes and stewards, without the loop, which does not run any more. */
void life_kill_all(void);

/* ---- place.c ---- */

int place_open(const struct host *, struct err *);
/* The first process of a box or steward, by its order; the descriptors stay the caller's. */
int place_start(struct life *, const int *fds, size_t nfds, struct err *);

/* ---- guard.c ---- */

/* Code runs in a box, which may use so much processor time more (0: any): looks soon, and as long
 * as there are such boxes. */
void guard_begin(const struct host *, struct life *, uint64_t cpu_ms);
/* Where no cgroup counts: what a box holds and has used by now is noted in it. */
void guard_count(struct life *);

/* ---- use.c ---- */

/* A process of the box has ended; where no cgroup counts, this is what is known. */
void use_add(struct life *box, const struct rusage *);
/* Tells that it has started, with descriptors of what its group counts. */
void use_offer(struct life *);
/* What it has used since that was told, into the answer. */
void use_note(const struct life *, struct answer *);
/* Tells it, and counts anew. */
void use_tell(struct life *box);

/* ---- program.c ---- */

int program_open(const struct host *, struct err *);
/* runtime_missing, or a number that is none. */
int program_check(const struct order *, struct err *);
/* In a box that is ready; what goes wrong is answered. */
void program_start(struct life *);
/* One that runs nothing, in the box it was given: its layers, or why it failed. */
int program_try(struct life *, struct layers *, struct err *);
/* The layers that it had: no later program is to be without. */
uint64_t program_due(void);
/* A zygote's child that was asked for is there; pid -1: it could not be made. */
void program_born(struct life *, pid_t, int pidfd);
/* It may be there, with all that it was given, and nobody can tell: it is killed with its box. */
void program_lost(struct life *);
/* Bytes that the programs of a box and all that came from them hold, where no cgroup counts. */
uint64_t program_memory(const struct life *box, uint64_t enough);
/* Processor time that they have used, likewise. */
uint64_t program_cpu_us(const struct life *box);

/* ---- trial.c ---- */

/* Before the loop runs: until its first process has reported, or -1: that it failed, was killed, or
 * takes too long. */
int trial_await(struct life *, struct err *);
