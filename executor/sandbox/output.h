/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - stdout or stderr of a program, separated by run. */
#pragma once

#include "common/base/err.h"
#include "executor/redact/redact.h"
#include "executor/sandbox/capture.h"

struct output {
	enum channel channel;
	/* Bytes as they are read during a run; may be NULL. */
	void (*seen)(void *self, enum channel, const void *data, size_t size);
	void *self;

	/* output.c's own. */
	int fd;     /* -1: closed */
	bool ended; /* no process can write more.  It is not closed yet: a reply goes first */
	bool watched;
	struct capture kept;
	struct redact_stream clean;
};

/* Makes the pipe, whose other end is *far; the caller has set channel, seen and self, and fd to
 * -1. */
int output_open(struct output *, int *far, struct err *);
/* A run begins: bytes since the last run count as its first output; at most limit bytes are
 * kept.  redact, which must live until the run's end, comes before all else; NULL: nothing is
 * redacted. */
void output_begin(struct output *, uint64_t limit, const struct redact *);
/* The run lasts: from now on its output is read as it arrives, until the run's end. */
void output_watch(struct output *);
/* Reads what has been written.  false: no process can write more. */
bool output_is_open(struct output *);
/* The run has ended: moves all its output to the blob, in order; returns how many bytes in the
 * middle were dropped. */
uint64_t output_end(struct output *, struct blob *);
void output_close(struct output *);
