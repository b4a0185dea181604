/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - the builder's record of a box, a program or a file helper while it exists; shared by the
 * files that make, watch and end them.
 */
#pragma once

#include "executor/builder/confine/confine.h"

#include <sys/resource.h>

struct life {
	struct order order;
	pid_t pid;
	int pidfd, report;
	struct answer answer; /* as far as known */

	/* the kill of this object (life_kill.c) */
	bool doomed; /* must be killed as soon as possible */
	bool asks;   /* the executor requested ANSWER_KILLED */
	enum life_state { LIFE_LIVES, LIFE_WAITS, LIFE_KILLED } end;
	unsigned frees;     /* seccomp programs that the kernel frees after the kill */
	struct life *later; /* the next one in the queue of kills */

	/* a program's */
	struct life *box;
	int fds[ORDER_MAX_FDS]; /* until it is cloned */
	struct life *next;      /* the next one that waits for the same box or zygote */
	bool zombie, reaped;    /* zombie: its end was noticed; reaped: its status is known */

	/* a box's */
	struct life *waiting; /* programs that wait until it is ready */
	unsigned programs;    /* number of programs that run or wait in it */
	bool dead; /* all its processes ended; ENDED is sent after those of its programs */
	int net, tmp, spaces[HOST_NAMESPACES];
	bool has_group, used; /* used: code has run in it */
	bool over;            /* it exceeded its memory limit */
	bool late;            /* it exceeded its limit of processor time */
	bool told;            /* ANSWER_KILLED was sent */
	bool strays;          /* a zygote may have left an unknown process in it */
	uint32_t locks;       /* number of file locks that caused `over`, or 0 */
	uint64_t last_us;     /* limit of processor time; 0: none */
	struct cgroup group;
	uint64_t timer;
	/* without a cgroup: peak memory; processor time of ended processes, and of all */
	uint64_t held, used_us, spent_us;
	uint64_t told_us, told_refused; /* usage reported in earlier answers */
	int64_t over_us;                /* time of the end of its last process */
};

/* ---- lives.c ---- */

struct life *life_new(const struct order *);
void life_free(struct life *);
/* Returns the object with that id, or NULL. */
struct life *life_of(uint32_t id);
/* Removes it from the table, closes its descriptors and sends the last answer. */
void life_end(struct life *);
/* The same for an object that could not be started. */
void life_fail(struct life *, const struct err *);
/* Watches the reports and the end of a new process.  If it cannot be watched, it is killed and
 * has ended when this returns. */
void life_watch(struct life *, void (*on_end)(void *self, uint32_t events));
/* Reads its pending reports; sends STARTED to the executor when that was reported. */
void life_listen(struct life *);
/* The same without an answer; returns the error that it reported. */
struct err life_note(struct life *);
/* Stops watching it, after its end. */
void life_forget(struct life *);
/* Its first process has ended, or is about to: waits for it, and records its usage. */
void life_note_end(struct life *);
/* Sends ANSWER_KILLED if the executor asked for it. */
void life_tell_killed(struct life *);

/* ---- life_kill.c ---- */

/* Kills it immediately, or as soon as the rate of kills permits (limits/pace.h). */
void life_kill(struct life *);
/* Kills it immediately, outside the rate: it must end before anything else is done. */
void life_kill_now(struct life *);
/* Waits for the end of a killed process.  False: it does not end within seconds. */
bool life_kill_await(const struct life *);
/* Call when all its processes have ended or never existed. */
void life_kill_over(struct life *);
/* Kills all boxes and file helpers.  Does not need the event loop, which no longer runs. */
void life_kill_all(void);

/* ---- place.c ---- */

int place_open(const struct host *, struct err *);
/* Starts the first process of a box or file helper.  The caller keeps the descriptors. */
int place_start(struct life *, const int *fds, size_t nfds, struct err *);

/* ---- guard.c ---- */

/* Call when code starts to run in a box.  It may use cpu_ms more of processor time (0:
 * unlimited).  Such boxes are sampled from now on. */
void guard_begin(const struct host *, struct life *, uint64_t cpu_ms);
/* Without a cgroup: samples the memory and processor time of a box. */
void guard_count(struct life *);

/* ---- use.c ---- */

/* Adds the usage of an ended process of the box, for boxes without a cgroup. */
void use_add(struct life *box, const struct rusage *);
/* Sends STARTED with descriptors of its counters. */
void use_offer(struct life *);
/* Writes the usage since the last report to the answer. */
void use_note(const struct life *, struct answer *);
/* Sends USED, and resets the counters. */
void use_tell(struct life *box);

/* ---- program.c ---- */

int program_open(const struct host *, struct err *);
/* Checks the numbers of an order.  Error runtime_missing if the runtime is not there. */
int program_check(const struct order *, struct err *);
/* Starts a program in a ready box; an error is sent as the answer. */
void program_start(struct life *);
/* Starts a program that runs no code in the given box.  Returns its layers, or the error. */
int program_try(struct life *, struct layers *, struct err *);
/* The layers that program_try() found in force.  Later programs must have them too. */
uint64_t program_due(void);
/* A zygote forked the requested child.  pid -1: the fork failed. */
void program_born(struct life *, pid_t, int pidfd);
/* Call if it is unknown whether the fork exists.  It may hold all descriptors that were sent, so
 * it is killed with its box. */
void program_lost(struct life *);
/* Memory of the programs of a box and their descendants, without a cgroup. */
uint64_t program_memory(const struct life *box, uint64_t enough);
/* Processor time of the same processes. */
uint64_t program_cpu_us(const struct life *box);

/* ---- trial.c ---- */

/* Before the event loop runs: waits until the first process has reported.  -1: it failed, was
 * killed, or takes too long. */
int trial_await(struct life *, struct err *);
