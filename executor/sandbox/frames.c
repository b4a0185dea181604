/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.c - reads frames from a guest.
 *
 * Trusts nothing: the driver that writes them shares a process with the program.  A frame over its
 * bound, of an unknown kind or not in UTF-8 is dropped.  A later frame of a kind replaces an
 * earlier one, so memory stays bounded for any number of frames.
 */
#include "executor/sandbox/frames.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "executor/guest/protocol.h"
#include "executor/media_type.h"

#include <string.h>

enum {
	MAX_VARIABLES = 256,
	MAX_NAME = 256,
	MAX_TYPE = 256,
	MAX_TEXT = 4096,
	MAX_LINE = 10000000,
	MAX_MIME = 128,
	MAX_STATUS = 3, /* digits */
};

/* By kind; a kind without a row is not part of the protocol. */
static const struct bound {
	uint8_t kind;
	uint32_t most; /* bytes */
} bounds[] = {
	{ GUEST_IDLE, 0 },
	{ GUEST_RESULT, GUEST_MAX_RESULT },
	{ GUEST_VARIABLES, GUEST_MAX_FRAME },
	{ GUEST_ERROR, GUEST_MAX_FRAME },
	{ GUEST_UNREADABLE, GUEST_MAX_FRAME },
	{ GUEST_RICH, MAX_MIME + 1 + GUEST_MAX_RICH },
	{ GUEST_DONE, MAX_STATUS },
	{ GUEST_LEFT, 0 },
};

static const struct bound *
bound_of(uint8_t kind)
{
	for (size_t i = 0; i < COUNT(bounds); i++)
		if (bounds[i].kind == kind)
			return &bounds[i];
	return NULL;
}

/* Copies the payload; NULL: it is not valid text, or there is no memory. */
static char *
copy_text(const char *text, size_t size)
{
	if (memchr(text, '\0', size) != NULL || !utf8_valid(text, size))
		return NULL;
	return strndup(text, size);
}

/* The first bytes of a longer text, cut between characters. */
static char *
copy_start(const char *text, size_t size, size_t most)
{
	size_t n = size < most ? size : most;

	while (n > 0 && utf8_inside(text, n, size))
		n--;
	return copy_text(text, n);
}

static void
take_result(struct frames *f)
{
	if (!utf8_valid(f->payload, f->size))
		return;
	blob_clear(&f->result);
	f->result = (struct blob){ take_ptr(f->payload), f->size };
}

/* Lines beyond the bound are not parsed: a program can send thousands of such frames a second,
 * and each would delay all other clients. */
static void
take_variables(struct frames *f)
{
	const char *at = (const char *)f->payload, *end = at + f->size, *line;

	texts_clear(&f->variables);
	for (int i = 0; i < MAX_VARIABLES && at < end; i++, at = line + 1) {
		line = memchr(at, '\n', (size_t)(end - at));
		if (line == NULL)
			return;

		size_t size = (size_t)(line - at);
		auto_free char *name = size < 1 || size > MAX_NAME ? NULL : copy_text(at, size);

		if (name != NULL && texts_add(&f->variables, name) < 0)
			return;
	}
}

/* Type, line feed, line number, line feed, text. */
static void
take_error(struct frames *f)
{
	const char *type = (const char *)f->payload, *end = type + f->size;
	const char *line = memchr(type, '\n', f->size);
	const char *text = line == NULL ? NULL : memchr(line + 1, '\n', (size_t)(end - line - 1));
	uint64_t number = 0;

	if (text == NULL)
		return;
	for (const char *d = line + 1; d < text; d++) {
		if (*d < '0' || *d > '9' || number > MAX_LINE)
			return;
		number = number * 10 + (uint64_t)(*d - '0');
	}
	free(f->error_type);
	free(f->error_text);
	f->error_type = copy_start(type, (size_t)(line - type), MAX_TYPE);
	f->error_text = copy_start(text + 1, (size_t)(end - text - 1), MAX_TEXT);
	f->error_line = number > MAX_LINE ? 0 : number;
	f->unreadable = f->head[0] == GUEST_UNREADABLE;
}

/* MIME type, line feed, bytes; those over the count are dropped. */
static void
take_rich(struct frames *f)
{
	const char *type = (const char *)f->payload;
	const char *line = memchr(type, '\n', f->size);
	size_t size = line == NULL ? 0 : (size_t)(line - type);
	struct box_rich *rich = &f->rich[f->nrich];

	if (f->nrich == GUEST_MAX_RICHES || size > MAX_MIME || !media_type_valid(type, size) ||
	    f->size - size - 1 > GUEST_MAX_RICH)
		return;
	*rich = (struct box_rich){ strndup(type, size), blob_copy(line + 1, f->size - size - 1) };
	if (rich->mime_type != NULL && rich->data.data != NULL) {
		f->nrich++;
		return;
	}
	free(rich->mime_type);
	blob_clear(&rich->data);
}

/* Decimal digits; any other content means that the program failed. */
static void
take_done(struct frames *f)
{
	int status = 0;

	for (size_t i = 0; i < f->size; i++)
		status = f->payload[i] < '0' || f->payload[i] > '9'
		             ? 256
		             : status * 10 + (f->payload[i] - '0');
	f->status = f->size == 0 || status > 255 ? 1 : status;
	f->done = true;
}

static void
take_claim(struct frames *f)
{
	switch (f->head[0]) {
	case GUEST_IDLE:
		f->idle = true;
		break;
	case GUEST_DONE:
		take_done(f);
		break;
	case GUEST_LEFT:
		f->left = true;
		break;
	case GUEST_RICH:
		take_rich(f);
		break;
	case GUEST_RESULT:
		take_result(f);
		break;
	case GUEST_VARIABLES:
		take_variables(f);
		break;
	case GUEST_ERROR:
	case GUEST_UNREADABLE:
		take_error(f);
		break;
	}
}

static void
take_frame(struct frames *f)
{
	if (f->payload != NULL)
		take_claim(f);
	free(f->payload);
	f->payload = NULL;
	f->have = 0;
	f->in_payload = false;
}

static int
begin_payload(struct frames *f)
{
	const struct bound *bound = bound_of(f->head[0]);

	f->size = (uint32_t)f->head[1] | (uint32_t)f->head[2] << 8 | (uint32_t)f->head[3] << 16 |
	          (uint32_t)f->head[4] << 24;
	if (bound == NULL || f->size > bound->most)
		return -1;
	f->payload = f->muted ? NULL : malloc(f->size + 1);
	f->have = 0;
	f->in_payload = true;
	return f->payload == NULL && !f->muted ? -1 : 0;
}

int
frames_feed(struct frames *f, const void *data, size_t size)
{
	const uint8_t *at = data, *end = at + size;

	while (at < end || (f->in_payload && f->have == f->size)) {
		uint8_t *to = f->in_payload ? f->payload : f->head;
		size_t whole = f->in_payload ? f->size : sizeof f->head;
		size_t part =
		    (size_t)(end - at) < whole - f->have ? (size_t)(end - at) : whole - f->have;

		if (to != NULL)
			memcpy(to + f->have, at, part);
		f->have += part;
		at += part;
		if (f->have < whole)
			continue;
		if (f->in_payload)
			take_frame(f);
		else if (begin_payload(f) < 0)
			return -1;
	}
	return 0;
}

void
frames_mute(struct frames *f, bool muted)
{
	f->muted = muted;
	if (muted) {
		free(f->payload);
		f->payload = NULL;
	}
}

void
frames_take(struct frames *f, struct box_end *end)
{
	end->result = f->result;
	end->variables = f->variables;
	end->error_type = take_ptr(f->error_type);
	end->error_text = take_ptr(f->error_text);
	end->error_line = f->error_line;
	end->unreadable = f->unreadable;
	f->result = (struct blob){ 0 };
	f->variables = (struct texts){ 0 };
	f->error_line = 0;
	f->unreadable = false;
	memcpy(end->rich, f->rich, sizeof end->rich);
	end->nrich = f->nrich;
	f->nrich = 0;
	f->done = f->left = false;
}

void
frames_clear(struct frames *f)
{
	free(f->payload);
	blob_clear(&f->result);
	texts_clear(&f->variables);
	free(f->error_type);
	free(f->error_text);
	while (f->nrich > 0) {
		free(f->rich[--f->nrich].mime_type);
		blob_clear(&f->rich[f->nrich].data);
	}
	*f = (struct frames){ 0 };
}
