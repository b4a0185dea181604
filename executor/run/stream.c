/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - collects output and forwards it; the output is a hostile program's. */
#include "executor/run/stream.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Each invalid byte becomes three bytes, and a part has a size limit. */
_Static_assert(STREAM_PIECE * 3 <= 65536, "a mended piece fits into a part");

void
stream_open(struct stream *stream, struct call *call, uint64_t limit)
{
	*stream = (struct stream){ .call = call };
	stream->sides[0].left = stream->sides[1].left = limit;
}

void
stream_progress(struct stream *stream, const char *text)
{
	struct stream_part part = {
		.channel = channel_progress,
		.text = blob_text(text),
		.progress = stream->progress,
	};

	stream->progress += 1;
	call_stream(stream->call, &part);
	blob_clear(&part.text);
}

/* The number of bytes at the end that begin a character whose rest may follow. */
static size_t
unfinished(const char *data, size_t size)
{
	for (size_t back = 1; back <= 3 && back <= size; back++) {
		unsigned char c = (unsigned char)data[size - back];
		size_t whole = c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;

		if ((c & 0xc0) != 0x80)
			return back < whole ? back : 0;
	}
	return 0;
}

static void
send_part(struct stream *stream, enum channel channel, const char *data, size_t size)
{
	struct stream_part part = {
		.channel = (int)channel,
		.text = utf8_mend(data, size),
		.progress = stream->progress,
	};

	if (part.text.data != NULL)
		call_stream(stream->call, &part);
	blob_clear(&part.text);
}

static void
tell_gap(struct stream *stream, enum channel channel)
{
	struct stream_side *side = &stream->sides[channel];
	char text[80];

	if (side->dropped == 0)
		return;
	snprintf(text, sizeof text, "\n[... %" PRIu64 " bytes came too fast to be shown ...]\n",
	    side->dropped);
	send_part(stream, channel, text, strlen(text));
	side->dropped = 0;
}

static void
flush(struct stream *stream, enum channel channel, bool last)
{
	struct stream_side *side = &stream->sides[channel];
	size_t keep = last ? 0 : unfinished(side->data, side->size);
	size_t ready = side->size - keep;

	stream->flowing = true;
	for (size_t at = 0; at < ready;) {
		size_t size = ready - at;

		if (size > STREAM_PIECE)
			size = STREAM_PIECE - unfinished(side->data + at, STREAM_PIECE);
		send_part(stream, channel, side->data + at, size);
		at += size;
	}
	if (keep > 0)
		memmove(side->data, side->data + ready, keep);
	side->size = keep;
	tell_gap(stream, channel);
}

static void
moment_over(void *self)
{
	struct stream *stream = self;

	stream->timer = 0;
	for (size_t i = 0; i < COUNT(stream->sides); i++)
		if (stream->sides[i].size > 0)
			flush(stream, (enum channel)i, stream->sides[i].dropped > 0);
}

void
stream_output(struct stream *stream, enum channel channel, const void *data, size_t size)
{
	struct stream_side *side = &stream->sides[channel];
	size_t n;

	must(channel == channel_stdout || channel == channel_stderr);
	if (size > side->left)
		size = side->left;
	if (size > 0 && side->data == NULL && (side->data = malloc(STREAM_BUFFER)) == NULL)
		return;
	side->left -= size;
	n = STREAM_BUFFER - side->size < size ? STREAM_BUFFER - side->size : size;
	if (n > 0)
		memcpy(side->data + side->size, data, n);
	side->size += n;
	side->dropped += size - n;
	if (stream->timer == 0 && side->size > 0)
		stream->timer = loop_after(STREAM_DELAY_MS, moment_over, stream);
}

void
stream_close(struct stream *stream)
{
	loop_unset(stream->timer);
	for (size_t i = 0; i < COUNT(stream->sides); i++) {
		if (stream->flowing)
			flush(stream, (enum channel)i, true);
		free(stream->sides[i].data);
	}
	*stream = (struct stream){ 0 };
}
