/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - a tokenizer that is just sufficient to count values and keys and to find the outermost
 * "id".
 *
 * Trusts nothing: any bytes leave it in a valid state, and it never reads back.  What it finds as
 * an id is parsed strictly before it is used.
 */
#include "gateway/rpc/scan.h"

#include "gateway/rpc/plain.h"

#include <string.h>

static void
keep(char *to, size_t room, size_t *size, char c)
{
	if (*size < room)
		to[*size] = c;
	if (*size <= room)
		(*size)++; /* one more than fits marks it as too long */
}

static void
end_key(struct scan *s)
{
	s->in_key = false;
	s->key_next = false;
	s->in_id = !s->id_seen && s->key_size == 2 && memcmp(s->key, "id", 2) == 0;
	if (s->in_id)
		s->id_size = 0;
}

static void
end_value(struct scan *s)
{
	if (s->in_id)
		s->id_seen = true;
	s->in_id = false;
}

static void
string_byte(struct scan *s, char c)
{
	bool quote = c == '"' && !s->escaped;

	s->escaped = c == '\\' && !s->escaped;
	if (s->in_id)
		keep(s->id, sizeof s->id, &s->id_size, c);
	if (!quote) {
		if (s->in_key)
			keep(s->key, sizeof s->key, &s->key_size, c);
		return;
	}
	s->string = false;
	if (s->in_key)
		end_key(s);
}

static void
open_string(struct scan *s)
{
	s->string = true;
	if (s->depth == 1 && s->key_next) {
		s->in_key = true;
		s->key_size = 0;
	}
	if (s->in_id)
		keep(s->id, sizeof s->id, &s->id_size, '"');
}

static void
open_nest(struct scan *s, bool array)
{
	if (s->depth == 0 && s->values == 0) {
		s->array = array;
		s->key_next = !array;
	}
	s->values++;
	s->in_id = false; /* an object or array is not an id */
	s->depth++;
	if (s->depth > s->deepest)
		s->deepest = s->depth;
}

static void
plain_byte(struct scan *s, char c)
{
	switch (c) {
	case '"':
		open_string(s);
		return;
	case '[':
	case '{':
		open_nest(s, c == '[');
		return;
	case ']':
	case '}':
		if (s->depth == 1)
			end_value(s);
		if (s->depth > 0)
			s->depth--;
		return;
	case ',':
		s->values++;
		if (s->depth == 1) {
			end_value(s);
			s->key_next = !s->array;
		}
		return;
	case ':':
		s->keys++;
		return;
	case ' ':
	case '\t':
	case '\r':
		return;
	default:
		if (s->in_id)
			keep(s->id, sizeof s->id, &s->id_size, c);
	}
}

/* Skips the inside of a long string that is not copied: most bytes of a message with a file in
 * it. */
static const char *
skip_text(const struct scan *s, const char *at, const char *end)
{
	return s->escaped || s->in_key || s->in_id ? at : plain_end(at, end);
}

void
scan_reset(struct scan *s)
{
	memset(s, 0, offsetof(struct scan, key));
}

void
scan_feed(struct scan *s, const char *data, size_t size)
{
	const char *at = data, *end = data + size;

	while (at < end) {
		if (!s->string) {
			plain_byte(s, *at++);
			continue;
		}
		at = skip_text(s, at, end);
		if (at < end)
			string_byte(s, *at++);
	}
}

const char *
scan_refusal(const struct scan *s)
{
	if (s->deepest > SCAN_MAX_DEPTH)
		return "nested arrays and objects are over the limit of 256 levels";
	if (s->values > SCAN_MAX_VALUES)
		return "the number of values in the message is over the limit of 2000000";
	if (s->keys > SCAN_MAX_KEYS)
		return "the number of keys in all objects of the message is over the limit of "
		       "50000; send fewer, or send large JSON data as text";
	return NULL;
}

json_t *
scan_id(const struct scan *s)
{
	if (s->array || !s->id_seen || s->id_size > sizeof s->id)
		return NULL;

	json_t *id = json_loadb(s->id, s->id_size, JSON_DECODE_ANY, NULL);

	if (json_is_string(id) || json_is_integer(id))
		return id;
	json_decref(id);
	return NULL;
}
