/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - a list of events in the order they are sent.
 *
 * Trusts its callers.  Event ids that come back from clients are parsed as untrusted input.
 */
#include "gateway/transport/http/stream.h"

#include "gateway/rpc/growing.h"
#include "gateway/rpc/write.h"
#include "gateway/transport/client.h"
#include "gateway/transport/http/state.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct sse_event {
	struct sse_event *next;
	uint64_t number; /* 0: cannot be resumed from */
	size_t size;
	char text[];
};

static void
count_waiting(struct stream *s, size_t size)
{
	s->waiting += size;
	web_counts.waiting += size;
	if (s->account != NULL)
		s->account->waiting += size;
}

static void
count_sent(struct stream *s, size_t size)
{
	s->waiting -= size;
	web_counts.waiting -= size;
	if (s->account != NULL)
		s->account->waiting -= size;
}

/* An event that was sent completely is kept. */
static void
count_kept(struct stream *s, size_t size)
{
	s->kept += size;
	web_counts.kept += size;
	if (s->account != NULL)
		s->account->kept += size;
}

/* It is freed, or is unsent again. */
static void
count_lost(struct stream *s, size_t size)
{
	s->kept -= size;
	web_counts.kept -= size;
	if (s->account != NULL)
		s->account->kept -= size;
}

/* ---- adding events ---- */

static int
append_text(struct growing *t, const char *text)
{
	return growing_add(text, strlen(text), t);
}

/* One allocation holds the struct and the text after it. */
static int
open_event(struct growing *t, const struct stream *s)
{
	struct sse_event head = { .number = s->tag != 0 ? s->number + 1 : 0 };
	char id[64];

	if (growing_add((char *)&head, offsetof(struct sse_event, text), t) < 0)
		return -1;
	if (s->tag == 0)
		return 0;
	snprintf(id, sizeof id, "id: %" PRIu64 "-%" PRIu64 "\n", s->tag, head.number);
	return append_text(t, id);
}

static int
keep_event(struct stream *s, struct growing *t)
{
	struct sse_event *event = realloc(t->data, t->size);

	if (event == NULL)
		return -1;
	t->data = NULL;
	event->next = NULL;
	event->size = t->size - offsetof(struct sse_event, text);
	if (event->number != 0)
		s->number = event->number;
	if (s->last == NULL)
		s->first = event;
	else
		s->last->next = event;
	s->last = event;
	if (s->at == NULL) {
		s->at = event;
		s->offset = 0;
		s->read_ms = loop_now_ms();
	}
	s->bytes += event->size;
	count_waiting(s, event->size);
	s->spoke_ms = loop_now_ms();
	if (s->request != NULL)
		s->wake(s->request);
	return 0;
}

int
stream_add(struct stream *s, const json_t *message, size_t limit)
{
	size_t room = limit > s->waiting ? limit - s->waiting : 0;
	struct growing t = { .limit = room };
	int failed = open_event(&t, s);

	if (failed == 0)
		failed = append_text(&t, "event: message\ndata: ");
	if (failed == 0)
		failed = write_json(message, growing_add, &t);
	if (failed == 0)
		failed = append_text(&t, "\n\n");
	if (failed == 0)
		failed = keep_event(s, &t);
	free(t.data);
	return failed;
}

int
stream_add_text(struct stream *s, const char *name, const char *text)
{
	return stream_add_named(s, NULL, name, text);
}

int
stream_add_named(struct stream *s, const char *id, const char *name, const char *text)
{
	struct growing t = { .limit = 65536 };
	int failed = open_event(&t, s);

	if (failed == 0 && id != NULL)
		failed = append_text(&t, "id: ") + append_text(&t, id) + append_text(&t, "\n");
	if (failed == 0 && name != NULL)
		failed = append_text(&t, "event: ") + append_text(&t, name) + append_text(&t, "\n");
	if (failed == 0)
		failed =
		    append_text(&t, "data: ") + append_text(&t, text) + append_text(&t, "\n\n");
	if (failed == 0)
		failed = keep_event(s, &t);
	free(t.data);
	return failed;
}

int
stream_prime(struct stream *s, int retry_ms)
{
	struct growing t = { .limit = 256 };
	char retry[64];
	int failed = open_event(&t, s);

	snprintf(retry, sizeof retry, "retry: %d\ndata: \n\n", retry_ms);
	if (failed == 0)
		failed = append_text(&t, retry);
	if (failed == 0)
		failed = keep_event(s, &t);
	free(t.data);
	return failed;
}

void
stream_comment(struct stream *s)
{
	s->comment = true;
	s->spoke_ms = loop_now_ms();
	if (s->request != NULL)
		s->wake(s->request);
}

void
stream_end(struct stream *s)
{
	s->ended = true;
	if (s->request != NULL)
		s->wake(s->request);
}

/* ---- sending ---- */

static void
drop_first(struct stream *s)
{
	struct sse_event *event = s->first;

	s->first = event->next;
	if (s->first == NULL)
		s->last = NULL;
	s->bytes -= event->size;
	free(event);
}

size_t
stream_read(struct stream *s, char *to, size_t size)
{
	static const char comment[] = ": alive\n\n";
	size_t given = 0;

	while (s->at != NULL && given < size) {
		size_t left = s->at->size - s->offset,
		       n = left < size - given ? left : size - given;

		memcpy(to + given, s->at->text + s->offset, n);
		given += n;
		s->offset += n;
		count_sent(s, n);
		if (s->offset < s->at->size)
			break;
		if (s->tag != 0)
			count_kept(s, s->at->size);
		s->at = s->at->next;
		s->offset = 0;
		if (s->tag == 0)
			drop_first(s);
	}
	if (given == 0 && s->comment && size >= sizeof comment - 1) {
		given = sizeof comment - 1;
		memcpy(to, comment, given);
		s->comment = false;
	}
	if (given > 0)
		s->read_ms = loop_now_ms();
	return given;
}

void
stream_detach(struct stream *s)
{
	s->request = NULL;
	count_waiting(s, s->offset);
	s->offset = 0;
	s->comment = s->paused = false;
}

/* ---- resumption ---- */

void
stream_trim(struct stream *s, size_t keep)
{
	while (s->first != s->at && s->kept > keep) {
		count_lost(s, s->first->size);
		drop_first(s);
	}
}

bool
stream_rewind(struct stream *s, uint64_t number)
{
	struct sse_event *event = s->first;

	if (number > s->number || (event != NULL && event->number > number + 1))
		return false;
	if (event == NULL && number != s->number)
		return false;
	count_lost(s, s->kept);
	count_sent(s, s->waiting);
	for (; event != NULL && event->number <= number; event = event->next)
		count_kept(s, event->size);
	s->at = event;
	s->offset = 0;
	for (; event != NULL; event = event->next)
		count_waiting(s, event->size);
	s->read_ms = loop_now_ms();
	return true;
}

static bool
number_of(const char **at, uint64_t *number)
{
	const char *digits = *at;
	uint64_t value = 0;

	while (**at >= '0' && **at <= '9' && *at - digits < 18)
		value = value * 10 + (uint64_t)(*(*at)++ - '0');
	*number = value;
	return *at > digits;
}

bool
stream_parse(const char *id, uint64_t *tag, uint64_t *number)
{
	return number_of(&id, tag) && *id++ == '-' && number_of(&id, number) && *id == '\0' &&
	       *tag > 0;
}

void
stream_clear(struct stream *s)
{
	count_sent(s, s->waiting);
	count_lost(s, s->kept);
	while (s->first != NULL)
		drop_first(s);
	s->at = NULL;
	s->bytes = 0;
}
