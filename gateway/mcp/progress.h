/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - what a call says on the way, as notifications/progress.
 *
 * Values grow whatever the server sends, at most ten times a second something goes out for a call
 * (what comes in between is joined), and nothing after progress_close().  A notification's text is
 * of one channel, which its _meta names: "cloister/channel": "stdout".
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

struct progress {
	const struct origin *origin;
	json_t *token; /* NULL: nobody asked for any */
	double value;
	int64_t sent_ms;
	uint64_t timer;
	struct {
		char *text; /* not sent yet */
		size_t size;
	} channels[channel_COUNT];
};

/* token: a string or an integer, or anything else for none.  *origin lives as long as *progress. */
void progress_open(struct progress *, const struct origin *, json_t *token);
void progress_part(struct progress *, const struct stream_part *);
void progress_close(struct progress *);
