/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - what a program writes, on its way to the caller while it runs.
 *
 * A courtesy beside the reply, which has all of it: bytes are gathered for a moment, so that a
 * short run sends none; they end at whole characters.  What comes faster than one buffer a moment
 * is left out, and so it is said; what a slow caller does not take is lost; beyond the limit
 * nothing is sent.
 */
#pragma once

#include "common/bus/bus.h"

enum {
	STREAM_BUFFER = 32 << 10,
	STREAM_PIECE = 16 << 10, /* of one part */
	STREAM_DELAY_MS = 50,
};

struct stream {
	struct call *call;
	struct stream_side {
		char *data;
		size_t size;
		uint64_t left;    /* of the limit */
		uint64_t dropped; /* since it was sent last */
	} sides[2];               /* stdout, stderr */
	uint64_t timer;
	double progress;
	bool flowing; /* some of it was sent */
};

/* Sends to that call, which must outlive it, at most limit bytes of each channel. */
void stream_open(struct stream *, struct call *, uint64_t limit);
void stream_progress(struct stream *, const char *text);
void stream_output(struct stream *, enum channel, const void *data, size_t size);
/* Sends what is left of what flowed; the reply follows. */
void stream_close(struct stream *);
