/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cage.h - what a new process does between clone and its program: every layer of a box, each tried,
 * none believed before it is read back.
 */
#pragma once

#include "executor/builder/filter.h"
#include "executor/builder/host.h"
#include "executor/builder/limits/cgroup.h"
#include "executor/builder/order.h"

enum cage_program {
	CAGE_LANGUAGE, /* the interpreter of order->language, under an init of its own */
	CAGE_STEWARD,  /* steward_main() */
	CAGE_NOTHING,  /* a trial: the layers, and the end */
};

struct cage {
	enum cage_program program;
	const struct host *host;
	const struct order *order;
	const struct cgroup *group;
	const struct filter *filter;
	int workspace, tmp;     /* detached mounts; tmp -1: has none */
	int fds[ORDER_MAX_FDS]; /* as they came with the order */
	int report;             /* the writing end of a pipe */
};

/* What a box's first process tells the builder; the first before any code of a guest has run. */
enum cage_said {
	CAGE_READY = 1, /* layers, steps; or error, and it ends */
	CAGE_ENDED,     /* status: of its program, as wait(2) has it */
};

struct cage_report {
	uint32_t said;
	int32_t status;
	struct err error;
	struct layers layers;
	uint32_t step_us[STEP_COUNT];
};

/* Is there a program for the language on this host? */
bool cage_has_runtime(uint32_t language);

/* In the new process. */
void cage_run(const struct cage *) __attribute__((noreturn));
