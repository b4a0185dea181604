/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.c - an Aho-Corasick automaton over all forms of all secrets, with a filter before it.
 *
 * Theory of operation.  As long as no form can have begun, filter() compares the hash of each four
 * bytes with a bitmap of the beginnings of all forms: ordinary output costs one load each byte.
 * Where the bitmap has the hash, and near a control sequence, the automaton takes the bytes one by
 * one until it is back in its root.  Its work is linear in the output, whatever that contains.
 *
 * Bytes that may belong to a secret are held back: as many as the depth of the automaton's state.
 * A match marks the last bytes of these as a span.  A control sequence does not change the state.
 *
 * The output is hostile.  The automaton is not larger than the forms, whose sizes are bounded.
 */
#include "executor/redact/redact.h"

#include "executor/redact/form.h"

#include "common/base/auto.h"

#include <sodium.h>
#include <string.h>

enum {
	WINDOW = 4, /* bytes that are hashed */
	HASH_BITS = 18,
	MAX_CONTROL = 64, /* bytes of a control sequence */
	MAX_WRAP = 2,     /* bytes of the end of a line */
	PIECE = 1 << 20,  /* of a text that is masked */
	ESCAPE = 0x1b,
};

struct node {
	uint32_t child, sibling; /* 0: none */
	uint32_t fail, depth;
	uint32_t longest; /* length of the longest form that ends here; 0: none */
	uint8_t byte;
	bool coded; /* a line may end here, within a form */
	bool line;  /* a form of a dump ends here: the rest of its line has the bytes again */
};

struct redact {
	unsigned users;
	uint64_t beginnings[(1 << HASH_BITS) / 64];
	uint32_t root[256];
	bool plain; /* no secret contains ESC, so control sequences are skipped */
	size_t nnodes, room;
	struct node nodes[]; /* the first is the root */
};

/* ---- building ---- */

static uint32_t
hash_at(const uint8_t *at)
{
	uint32_t window;

	memcpy(&window, at, WINDOW);
	return (window * 0x9E3779B1U) >> (32 - HASH_BITS);
}

static uint32_t
child_of(const struct redact *r, uint32_t node, uint8_t byte)
{
	uint32_t at = r->nodes[node].child;

	if (node == 0)
		return r->root[byte];
	while (at != 0 && r->nodes[at].byte != byte)
		at = r->nodes[at].sibling;
	return at;
}

static uint32_t
grow(struct redact *r, uint32_t node, uint8_t byte)
{
	uint32_t at = child_of(r, node, byte);

	if (at != 0)
		return at;
	must(r->nnodes < r->room);
	at = (uint32_t)r->nnodes++;
	r->nodes[at] = (struct node){
		.sibling = r->nodes[node].child, .depth = r->nodes[node].depth + 1, .byte = byte
	};
	r->nodes[node].child = at;
	if (node == 0)
		r->root[byte] = at;
	return at;
}

static void
add_form(struct redact *r, const struct form *form)
{
	const uint8_t *data = form->text.data;
	uint32_t hash = hash_at(data), at = 0;

	r->beginnings[hash / 64] |= UINT64_C(1) << hash % 64;
	for (size_t i = 0; i < form->text.size; i++) {
		at = grow(r, at, data[i]);
		if (form->kind == FORM_CODED && i + 1 >= WINDOW)
			r->nodes[at].coded = true;
	}
	r->nodes[at].longest = (uint32_t)form->text.size;
	r->nodes[at].line = r->nodes[at].line || form->kind == FORM_LINE;
	r->plain = r->plain && memchr(data, ESCAPE, form->text.size) == NULL;
}

static uint32_t
step(const struct redact *r, uint32_t state, uint8_t byte)
{
	uint32_t next;

	while ((next = child_of(r, state, byte)) == 0 && state != 0)
		state = r->nodes[state].fail;
	return next;
}

/* Breadth first; `order` has room for all nodes. */
static void
link_nodes(struct redact *r, uint32_t *order)
{
	size_t count = 0;

	order[count++] = 0;
	for (size_t i = 0; i < count; i++) {
		const struct node *parent = &r->nodes[order[i]];

		for (uint32_t at = parent->child; at != 0; at = r->nodes[at].sibling) {
			struct node *n = &r->nodes[at];

			n->fail = order[i] == 0 ? 0 : step(r, parent->fail, n->byte);
			if (n->longest == 0)
				n->longest = r->nodes[n->fail].longest;
			n->line = n->line || r->nodes[n->fail].line;
			order[count++] = at;
		}
	}
}

static struct redact *
build(const struct forms *forms, struct err *e)
{
	size_t room = forms->bytes + 1;
	struct redact *r = calloc(1, sizeof *r + room * sizeof r->nodes[0]);
	auto_free uint32_t *order = calloc(room, sizeof *order);

	if (r == NULL || order == NULL) {
		free(r);
		err_sys(e, "redaction");
		return NULL;
	}
	r->users = 1;
	r->plain = true;
	r->room = room;
	r->nnodes = 1;
	for (size_t i = 0; i < forms->count; i++)
		add_form(r, &forms->items[i]);
	link_nodes(r, order);
	return r;
}

struct redact *
redact_new(const struct blob *secrets, size_t count, struct err *e)
{
	struct forms forms = { 0 };
	struct redact *r = NULL;
	size_t bytes = 0;
	int status = 0;

	for (size_t i = 0; i < count; i++)
		bytes += secrets[i].size;
	if (bytes > REDACT_MAX_BYTES)
		status = err_set(e, ERR_limit_exceeded,
		    "env_secrets: the secrets of a session have at most %d bytes together",
		    REDACT_MAX_BYTES);
	for (size_t i = 0; i < count && status == 0; i++)
		status = form_add(&forms, secrets[i].data, secrets[i].size, e);
	if (status == 0)
		r = build(&forms, e);
	form_clear(&forms);
	return r;
}

struct redact *
redact_share(struct redact *r)
{
	if (r != NULL)
		r->users++;
	return r;
}

void
redact_free(struct redact *r)
{
	if (r != NULL && --r->users > 0)
		return;
	if (r != NULL)
		sodium_memzero(r, sizeof *r + r->room * sizeof r->nodes[0]);
	free(r);
}

/* ---- writing ---- */

static int
append(struct blob *to, const void *data, size_t size)
{
	/* Doubles at powers of two, so that many small parts are copied seldom. */
	size_t need = to->size + size + 1, room = 64;
	void *grown = to->data;

	while (room < to->size + 1)
		room *= 2;
	if (to->data == NULL || need > room) {
		while (room < need)
			room *= 2;
		grown = realloc(to->data, room);
	}
	if (grown == NULL)
		return -1;
	to->data = grown;
	memcpy((char *)grown + to->size, data, size);
	to->size += size;
	((char *)grown)[to->size] = 0;
	return 0;
}

static int
write_plain(struct redact_stream *s, const void *data, size_t size, struct blob *to)
{
	if (size > 0)
		s->marked = false;
	return size > 0 ? append(to, data, size) : 0;
}

static int
write_mark(struct redact_stream *s, struct blob *to)
{
	bool again = s->marked;

	s->marked = true;
	if (s->stars)
		return append(to, "*", 1);
	return again ? 0 : append(to, REDACT_MARK, sizeof REDACT_MARK - 1);
}

/* ---- held bytes ---- */

/* Held bytes start at the front again when room is needed. */
static int
hold(struct redact_stream *s, uint8_t byte, bool skipped)
{
	if (s->end == s->held.size && s->front > s->end / 2) {
		memmove(s->held.data, (uint8_t *)s->held.data + s->front, s->end - s->front);
		memmove(s->skipped, s->skipped + s->front, s->end - s->front);
		s->end -= s->front;
		s->front = 0;
	}
	if (s->end == s->held.size) {
		size_t room = s->held.size == 0 ? 256 : 2 * s->held.size;
		void *held = realloc(s->held.data, room);
		uint8_t *flags = held == NULL ? NULL : realloc(s->skipped, room);

		if (held != NULL)
			s->held.data = held;
		if (flags == NULL)
			return -1;
		s->skipped = flags;
		s->held.size = room;
	}
	((uint8_t *)s->held.data)[s->end] = byte;
	s->skipped[s->end++] = skipped;
	return 0;
}

/* The last `size` bytes that were seen are a secret.  Spans are in order and do not overlap. */
static int
add_span(struct redact_stream *s, size_t size)
{
	struct redact_span span = { s->seen - size, s->seen };

	while (s->nspans > 0 && s->spans[s->nspans - 1].until >= span.from) {
		if (s->spans[s->nspans - 1].from < span.from)
			span.from = s->spans[s->nspans - 1].from;
		s->nspans--;
	}
	if (s->nspans == s->span_room) {
		size_t room = s->span_room == 0 ? 8 : 2 * s->span_room;
		void *grown = realloc(s->spans, room * sizeof span);

		if (grown == NULL)
			return -1;
		s->spans = grown;
		s->span_room = room;
	}
	s->spans[s->nspans++] = span;
	return 0;
}

/* Is the byte of that number in the first span?  Drops spans before it. */
static bool
in_span(struct redact_stream *s, uint64_t number)
{
	size_t gone = 0;

	while (gone < s->nspans && s->spans[gone].until <= number)
		gone++;
	if (gone > 0)
		memmove(s->spans, s->spans + gone, (s->nspans - gone) * sizeof s->spans[0]);
	s->nspans -= gone;
	return s->nspans > 0 && s->spans[0].from <= number;
}

/* Writes all but the last `keep` bytes.  A control sequence goes with the byte before it. */
static int
release(struct redact_stream *s, size_t keep, struct blob *to)
{
	int status = 0;

	while (s->front < s->end && status == 0) {
		bool skipped = s->skipped[s->front];
		const uint8_t *byte = (const uint8_t *)s->held.data + s->front;

		if (!skipped && s->seen - s->first <= keep)
			break;
		if (!skipped)
			s->first++;
		status = in_span(s, s->first - 1) && (!skipped || s->spans[0].until > s->first)
		             ? write_mark(s, to)
		             : write_plain(s, byte, 1, to);
		s->front++;
	}
	if (s->front == s->end)
		s->front = s->end = 0;
	return status;
}

/* ---- reading ---- */

/* The next byte of a control sequence; the sequence ends, or is none after all, at some of them. */
static void
follow_control(struct redact_stream *s, uint8_t byte)
{
	if (s->control == REDACT_ESCAPE)
		s->control = byte == '[' ? REDACT_CONTROL : REDACT_TEXT;
	else if (byte >= 0x40 && byte <= 0x7e)
		s->control = REDACT_TEXT;
}

static size_t
control_length(const struct redact_stream *s)
{
	size_t n = 0;

	while (n < s->end - s->front && s->skipped[s->end - 1 - n])
		n++;
	return n;
}

/* Is it the end of a line within a form that may be wrapped? */
static bool
wraps(const struct redact_stream *s, uint8_t byte)
{
	return (byte == '\n' || byte == '\r') && s->of->nodes[s->state].coded &&
	       child_of(s->of, s->state, byte) == 0 && control_length(s) < MAX_WRAP;
}

static int
take(struct redact_stream *s, uint8_t byte, struct blob *to)
{
	const struct redact *r = s->of;

	if (s->control != REDACT_TEXT) {
		follow_control(s, byte);
		if (hold(s, byte, true) < 0)
			return -1;
		if (control_length(s) <= MAX_CONTROL)
			return 0;
		s->control = REDACT_TEXT;
		s->state = 0;
		return release(s, 0, to);
	}
	if (byte == ESCAPE && r->plain && s->state != 0) {
		s->control = REDACT_ESCAPE;
		return hold(s, byte, true);
	}
	if (wraps(s, byte))
		return hold(s, byte, true);
	s->seen++;
	s->state = step(r, s->state, byte);
	s->line = s->line && byte != '\n';

	const struct node *now = &r->nodes[s->state];

	s->line = s->line || now->line;
	if (hold(s, byte, false) < 0 || (now->longest > 0 && add_span(s, now->longest) < 0) ||
	    (s->line && add_span(s, 1) < 0))
		return -1;
	return release(s, now->depth, to);
}

/* The first place from `at` on where a form may begin, or `end`; the WINDOW bytes there exist. */
static size_t
filter(const struct redact *r, const uint8_t *data, size_t at, size_t end)
{
	for (; at < end; at++) {
		uint32_t hash = hash_at(data + at);

		if ((r->beginnings[hash / 64] >> hash % 64 & 1) != 0)
			break;
	}
	return at;
}

static size_t
next_escape(const struct redact *r, const uint8_t *data, size_t at, size_t size)
{
	const uint8_t *found = r->plain ? memchr(data + at, ESCAPE, size - at) : NULL;

	return found != NULL ? (size_t)(found - data) : size;
}

static int
feed(struct redact_stream *s, const uint8_t *data, size_t size, struct blob *to)
{
	size_t escape = next_escape(s->of, data, 0, size);

	for (size_t at = 0; at < size;) {
		if (at > escape)
			escape = next_escape(s->of, data, at, size);
		if (s->state == 0 && s->front == s->end && !s->line && at + WINDOW <= escape) {
			size_t found = filter(s->of, data, at, escape - WINDOW + 1);

			if (write_plain(s, data + at, found - at, to) < 0)
				return -1;
			s->seen += found - at;
			s->first = s->seen;
			at = found;
		}
		if (take(s, data[at++], to) < 0)
			return -1;
	}
	return 0;
}

int
redact_feed(struct redact_stream *s, const void *data, size_t size, struct blob *to)
{
	if (s->of == NULL)
		return append(to, data, size);
	if (!s->failed && feed(s, data, size, to) == 0)
		return 0;
	s->failed = true;
	return -1;
}

int
redact_end(struct redact_stream *s, struct blob *to)
{
	int status = s->failed ? -1 : release(s, 0, to);

	if (s->held.data != NULL)
		sodium_memzero(s->held.data, s->held.size);
	blob_clear(&s->held);
	free(s->skipped);
	free(s->spans);
	*s = (struct redact_stream){ 0 };
	return status;
}

/* ---- whole texts ---- */

void
redact_blob(const struct redact *r, struct blob *blob)
{
	struct redact_stream s = { .of = r };
	struct blob clean = { 0 };

	if (r == NULL || blob->data == NULL)
		return;
	if (redact_feed(&s, blob->data, blob->size, &clean) < 0)
		blob_clear(&clean);
	if (redact_end(&s, &clean) < 0)
		blob_clear(&clean);
	sodium_memzero(blob->data, blob->size);
	blob_clear(blob);
	*blob = clean.data != NULL ? clean : blob_copy("", 0);
}

/* Writes what is clean by now over the text at *at, where it differs: the text may be a mapped
 * file, whose pages would be copied. */
static bool
overwrite(char *at, struct blob *clean)
{
	bool found = clean->size > 0 && memcmp(at, clean->data, clean->size) != 0;

	if (found)
		memcpy(at, clean->data, clean->size);
	clean->size = 0;
	return found;
}

bool
redact_mask(const struct redact *r, struct blob *blob)
{
	struct redact_stream s = { .of = r, .stars = true };
	struct blob clean = { 0 };
	char *data = blob->data;
	size_t done = 0;
	bool failed = false, found = false;

	if (r == NULL || blob->size == 0)
		return false;
	for (size_t at = 0, size; at < blob->size && !failed; at += size) {
		size = blob->size - at < PIECE ? blob->size - at : PIECE;
		failed = redact_feed(&s, data + at, size, &clean) < 0;
		size_t now = clean.size;
		found = overwrite(data + done, &clean) || found;
		done += now;
	}
	failed = redact_end(&s, &clean) < 0 || failed || done + clean.size != blob->size;
	if (failed)
		memset(data, '*', blob->size);
	else
		found = overwrite(data + done, &clean) || found;
	blob_clear(&clean);
	return found || failed;
}

void
redact_text(const struct redact *r, char **text)
{
	struct blob blob = { *text, *text != NULL ? strlen(*text) : 0 };

	if (r == NULL || *text == NULL)
		return;
	redact_blob(r, &blob);
	*text = blob.data;
}

bool
redact_finds(const struct redact *r, const char *text)
{
	struct redact_stream s = { .of = r };
	struct blob clean = { 0 };
	bool found = true;

	if (r == NULL)
		return false;
	if (redact_feed(&s, text, strlen(text), &clean) == 0) {
		if (redact_end(&s, &clean) == 0)
			found = clean.size != strlen(text) ||
			        (clean.size > 0 && memcmp(clean.data, text, clean.size) != 0);
	} else {
		redact_end(&s, &clean);
	}
	blob_clear(&clean);
	return found;
}
