/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - what the checks look at: paths, numbers, and what daemons report.
 *
 * A check takes every path from here, so a test can give it a directory of its own.
 */
#pragma once

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct machine {
	/* Directories of the kernel, of programs that boxes see, and of persistent data. */
	const char *proc, *cgroup, *programs, *state;
	const char *certificates; /* the bundle of this host */
	const char *search;       /* PATH */
	const char *self;         /* the path of this program */
	const char *builder;      /* that of cloister-builder */
	uid_t uid;
	int landlock; /* its ABI; 0: none */
	int64_t now_s;

	/* Of the settings in force. */
	char *listen;      /* NULL: the gateway refuses its settings */
	char *credentials; /* directory of tokens */
	char *refusing;    /* the daemon that refuses its settings; NULL: none */

	/* Of daemons that run. */
	bool running;      /* some run, started by a supervisor or not */
	json_t *status;    /* as of `cloister status --json`; NULL: no supervisor */
	json_t *info;      /* as of get_sandbox_info; NULL: unknown, see silent */
	char *differences; /* from the settings and version of this command; NULL: none */
	char silent[300];  /* why info is NULL */
};

/* Collects it; after place_load().  Starts no daemon that does not run. */
void machine_open(struct machine *);
/* Frees what machine_open() allocated. */
void machine_close(struct machine *);

/* The first bytes of <directory>/<name>, without a final line feed.  -1: it cannot be read. */
int machine_text(const char *directory, const char *name, char *text, size_t size);
/* The number in it; absent: the value if there is no such file. */
int64_t machine_number(const char *directory, const char *name, int64_t absent);
