/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - output of a program, sent to the caller while the program runs.
 *
 * The reply has all of the output, so the stream may be incomplete.  Bytes are collected for
 * STREAM_DELAY_MS, so that a short run sends none; each piece ends at a whole character.  Output
 * that exceeds one buffer in that time is left out, and the stream says so.  Pieces that a slow
 * caller does not read are lost.  Nothing is sent beyond the limit.
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
		uint64_t dropped; /* since the last piece */
	} sides[2];               /* stdout, stderr */
	uint64_t timer;
	double progress;
	bool flowing; /* a piece was sent */
};

/* Sends at most limit bytes of each channel to that call, which must outlive the stream. */
void stream_open(struct stream *, struct call *, uint64_t limit);
void stream_progress(struct stream *, const char *text);
void stream_output(struct stream *, enum channel, const void *data, size_t size);
/* If anything was sent, sends the rest; the reply follows. */
void stream_close(struct stream *);
