/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - stdout or stderr of a program, run by run. */
#pragma once

#include "common/base/err.h"
#include "executor/sandbox/capture.h"

struct output {
	enum channel channel;
	/* Bytes as they are read during a run; may be NULL. */
	void (*seen)(void *self, enum channel, const void *data, size_t size);
	void *self;

	/* output.c's own. */
	int fd; /* -1: it ended */
	bool watched;
	struct capture kept;
};

/* Makes the pipe, whose other end is *far; channel, seen and self are set, fd is -1. */
int output_open(struct output *, int *far, struct err *);
/* A run begins: what came since the last one is its first output; so much is kept. */
void output_begin(struct output *, uint64_t limit);
/* The run lasts: what it writes is read as it comes, until its end. */
void output_watch(struct output *);
/* A run is over: all it wrote, in order; how many bytes in the middle are missing. */
uint64_t output_end(struct output *, struct blob *);
void output_close(struct output *);
