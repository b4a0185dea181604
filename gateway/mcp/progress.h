/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - the progress of a call, as notifications/progress.
 *
 * Progress values always grow.  A call sends at most ten notifications a second, each with the
 * output since the previous one, and none after progress_close().  The text of a notification
 * comes from one channel, which its _meta names: "cloister/channel": "stdout".  Where text of that
 * channel was left out before it, _meta has "cloister/gap": true.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

struct progress {
	const struct origin *origin;
	json_t *token; /* NULL: no progress requested */
	double value;
	int64_t sent_ms;
	uint64_t timer;
	struct {
		char *text; /* not sent yet */
		size_t size;
		bool after_gap; /* text was left out before it */
		bool gap;       /* text was left out behind it */
	} channels[channel_COUNT];
};

/* token: a string or an integer; any other value requests no progress.  *origin must outlive
 * *progress. */
void progress_open(struct progress *, const struct origin *, json_t *token);
void progress_part(struct progress *, const struct stream_part *);
void progress_close(struct progress *);
