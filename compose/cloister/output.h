/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - prints the output of a program, as it arrives and from its result. */
#pragma once

#include <jansson.h>

#include <stdbool.h>
#include <stdio.h>

struct output_stream {
	const char *name;
	FILE *to;
	char *shown; /* printed before the result arrived */
	size_t size;
	bool held; /* behind a gap: the rest is printed from the result */
};

struct output {
	struct output_stream streams[2];
};

/* To stdout and stderr. */
struct output output_begin(void);
/* A client_progress; state: the output. */
void output_progress(void *state, const char *channel, bool gap, const json_t *text);
/* Prints what the result of execute_code has and was not shown yet. */
void output_rest(const struct output *, const json_t *run);
/* Prints why the run failed, unless its stderr says so. */
void output_problem(const json_t *error);
void output_end(struct output *);
