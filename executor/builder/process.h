/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - a process that the executor ordered: the first process of a box, a program in a box,
 * or a file helper.  This is what all of them have, from the order to ANSWER_ENDED.  A
 * process_kind is what one sort of them does; its file defines it (box.h, program.h,
 * files/file_helper_process.h).
 *
 * process.c starts to watch processes, reads their reports, reaps them and sends their answers.
 * process_kill.c kills them.
 */
#pragma once

#include "executor/builder/confine/confine.h"
#include "executor/builder/limits/use.h"

struct process;

struct process_kind {
	size_t size;      /* of the kind's struct, which begins with a struct process */
	unsigned filters; /* seccomp programs of its own, which the kernel frees at its end */
	bool tells_kill;  /* ANSWER_KILLED is sent if the executor asked for it */
	/* The box that it waited for is ready.  NULL: the kind waits for none. */
	void (*begin)(struct process *);
	/* It reported its namespaces: bits by enum host_namespace.  Takes ownership of the
	 * descriptors.  NULL: the kind reports none. */
	void (*take_namespaces)(struct process *, uint32_t which, const int *fds, size_t nfds);
	/* All its layers are in force: sends ANSWER_STARTED. */
	void (*started)(struct process *);
	/* It ended, and is not reaped yet.  It is still watched. */
	void (*ended)(struct process *);
	/* Without a cgroup: adds up its usage.  NULL: the kind has none of its own. */
	void (*sample)(struct process *);
	/* Closes what only this kind has.  NULL: nothing. */
	void (*close)(struct process *);
};

struct process {
	const struct process_kind *kind;
	struct order order;
	pid_t pid;
	int pidfd, report;
	struct answer answer; /* as far as known */
	struct process *box;  /* the box that it was started in; NULL: it is pid 1 of its own */
	unsigned programs;    /* number of processes whose box this is, with those that wait */
	struct process *next; /* the next one that waits for the same box or zygote */
	bool dead; /* all its processes ended; ENDED is sent after those of its programs */
	int64_t ended_us;

	/* of a process without a box */
	bool has_group;
	struct cgroup group;
	struct use use;
	bool told; /* use was reported when it was killed */

	/* its kill (process_kill.c) */
	bool doomed; /* must be killed as soon as possible */
	bool asks;   /* the executor requested ANSWER_KILLED */
	enum process_state { PROCESS_LIVES, PROCESS_WAITS, PROCESS_KILLED } state;
	unsigned frees;        /* seccomp programs that the kernel frees after the kill */
	struct process *later; /* the next one in the queue of kills */
};

/* ---- process.c ---- */

/* Returns a process that is not started.  NULL: its id or its workspace cannot be used, or too
 * many processes exist. */
struct process *process_new(const struct process_kind *, const struct order *, struct err *);
/* Frees a process that processes_find() does not return, with all that its kind holds. */
void process_free(struct process *);
/* The same if it has a cgroup that was never used. */
void process_discard(struct process *);
/* Enters it in the table, and its workspace is in use until it ends. */
void process_add(struct process *);
/* Watches the reports and the end of a new process.  If it cannot be watched, it is killed and
 * has ended when this returns. */
void process_watch(struct process *);
/* Stops watching it, after its end. */
void process_forget(struct process *);
/* Reads its pending reports; calls started() when that was reported. */
void process_listen(struct process *);
/* The same without a call; returns the error that it reported. */
struct err process_note(struct process *);
/* started() of a kind that has nothing more to do. */
void process_tell_started(struct process *);
/* The first process of its namespaces has ended, or is about to: waits for it, and records its
 * usage. */
void process_reap(struct process *);
/* All its processes have ended and were reaped.  Ends it when its programs are ended, too. */
void process_bury(struct process *);
/* Removes it from the table, sends the last answer and frees it. */
void process_end(struct process *);
/* The same for a process that could not be started. */
void process_fail(struct process *, const struct err *);
/* Its own cgroup, or NULL. */
struct cgroup *process_group(struct process *);

/* ---- process_kill.c ---- */

/* Kills it immediately, or as soon as the rate of kills permits (limits/pace.h). */
void process_kill(struct process *);
/* Kills it immediately, outside the rate: it must end before anything else is done. */
void process_kill_now(struct process *);
/* Kills it, and sends ANSWER_KILLED when that is done, also if it was killed before. */
void process_kill_asked(struct process *);
/* Waits for the end of a killed process.  False: it does not end within seconds. */
bool process_kill_await(const struct process *);
/* Call when all its processes have ended or never existed. */
void process_kill_over(struct process *);
/* Kills all that have no box.  Does not need the event loop, which no longer runs. */
void process_kill_all(void);
