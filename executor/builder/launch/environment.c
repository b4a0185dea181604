/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.c - the environment of a program.
 *
 * A numerical library starts one thread for each processor of the host that it sees.  With a share
 * of one processor the threads would wait for each other most of the time.  On a large host they
 * would exceed the process limit of a run, and the program would fail when it imports numpy.
 */
#include "executor/builder/launch/environment.h"

#include "executor/builder/trust.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const fixed[] = {
/* clang-format off */
#define VARIABLE(pair) pair,
#include "executor/builder/launch/environment.def"
	/* clang-format on */
};

static const char *const if_added[] = {
/* clang-format off */
#define IF_ADDED(pair) pair,
#include "executor/builder/launch/environment.def"
	/* clang-format on */
};

static const char *const threads[] = {
/* clang-format off */
#define THREADS(name) name,
#include "executor/builder/launch/environment.def"
	/* clang-format on */
};

static bool added;

void
environment_trust(bool has_added)
{
	added = has_added;
}

/* The pair of PATH, with the programs of an environment before all others. */
static const char *
path_of(const char *pair, const char *python)
{
	static char path[4096 + 128];
	const char *slash = python != NULL ? strrchr(python, '/') : NULL;

	if (slash == NULL || strncmp(python, "/usr/", 5) == 0)
		return pair;

	int n = snprintf(path, sizeof path, "PATH=%.*s:%s", (int)(slash - python), python,
	    pair + strlen("PATH="));

	return n > 0 && (size_t)n < sizeof path ? path : pair;
}

const char *const *
environment_make(uint64_t cpu_milli, const char *python, const char *own)
{
	static const char *all[COUNT(fixed) + COUNT(if_added) + COUNT(threads) + 2];
	static char pairs[COUNT(threads)][48];
	uint64_t processors = cpu_milli > 1000 ? (cpu_milli + 999) / 1000 : 1;
	size_t n = 0;

	for (size_t i = 0; i < COUNT(fixed); i++)
		all[n++] =
		    strncmp(fixed[i], "PATH=", 5) == 0 ? path_of(fixed[i], python) : fixed[i];
	for (size_t i = 0; i < COUNT(if_added) && added; i++)
		all[n++] = if_added[i];
	for (size_t i = 0; i < COUNT(threads); i++) {
		snprintf(pairs[i], sizeof pairs[i], "%s=%" PRIu64, threads[i], processors);
		all[n++] = pairs[i];
	}
	if (own != NULL)
		all[n++] = own;
	all[n] = NULL;
	return all;
}
