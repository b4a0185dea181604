/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - one state for each part of a request; trusts no byte of it. */
#include "executor/secretd/request.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
	SIZE_LINE = 256, /* of a chunk, with its extensions */
	SIZE_DIGITS = 15,
	PIECE = 16384, /* of a body, that one call copies */
};

/* Text without its end. */
struct text {
	const char *at, *end;
};

static int
refuse(struct err *e, const char *why)
{
	return err_set(e, ERR_invalid_argument, "%s", why);
}

/* ---- characters ---- */

/* RFC 9110, 5.6.2 */
static bool
is_token(struct text text)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";
	const char *at = text.at;

	for (; at < text.end; at++)
		if (*at == '\0' || (!isalnum((unsigned char)*at) && strchr(marks, *at) == NULL))
			return false;
	return text.end > text.at;
}

/* Servers disagree about bare CR, bare LF and other control characters. */
static bool
is_clean(struct text text)
{
	for (; text.at < text.end; text.at++)
		if (((unsigned char)*text.at < ' ' && *text.at != '\t') || *text.at == 0x7f)
			return false;
	return true;
}

static struct text
trim(struct text text)
{
	while (text.at < text.end && (*text.at == ' ' || *text.at == '\t'))
		text.at++;
	while (text.end > text.at && (text.end[-1] == ' ' || text.end[-1] == '\t'))
		text.end--;
	return text;
}

static bool
is_word(struct text text, const char *word)
{
	size_t size = (size_t)(text.end - text.at);

	return size == strlen(word) && strncasecmp(text.at, word, size) == 0;
}

/* Cuts at the first mark; the rest is empty, with at NULL, if there is none. */
static struct text
cut(struct text *rest, char mark)
{
	const char *stop = memchr(rest->at, mark, (size_t)(rest->end - rest->at));
	struct text first = { rest->at, stop != NULL ? stop : rest->end };

	*rest = stop != NULL ? (struct text){ stop + 1, rest->end } : (struct text){ NULL, NULL };
	return first;
}

static void
put(struct request *r, struct text text)
{
	size_t size = (size_t)(text.end - text.at);

	must(r->nout + size <= sizeof r->out);
	memcpy(r->out + r->nout, text.at, size);
	r->nout += size;
}

static void
put_words(struct request *r, const char *words)
{
	put(r, (struct text){ words, words + strlen(words) });
}

/* ---- fields ---- */

struct head {
	bool host, length, coding, close;
	uint64_t bytes;
};

static int
take_host(struct request *r, struct head *head, struct text value, struct err *e)
{
	struct text port = { NULL, NULL }, name = value;

	if (head->host)
		return refuse(e, "two Host fields");
	if (memchr(value.at, ':', (size_t)(value.end - value.at)) != NULL) {
		port = value;
		name = cut(&port, ':');
	}
	if (!is_word(name, r->name) || (port.at != NULL && !is_word(port, "443")))
		return refuse(e, "Host is another name");
	head->host = true;
	return 1;
}

static int
take_length(struct request *r, struct head *head, struct text value, struct err *e)
{
	(void)r;
	if (head->length || value.at == value.end || value.end - value.at > SIZE_DIGITS)
		return refuse(e, "Content-Length occurs twice, is empty or too large");
	for (const char *at = value.at; at < value.end; at++) {
		if (!isdigit((unsigned char)*at))
			return refuse(e, "Content-Length is not a number");
		head->bytes = head->bytes * 10 + (uint64_t)(*at - '0');
	}
	head->length = true;
	return 1;
}

static int
take_coding(struct request *r, struct head *head, struct text value, struct err *e)
{
	(void)r;
	if (head->coding || !is_word(value, "chunked"))
		return refuse(e, "Transfer-Encoding occurs twice, or is not chunked");
	head->coding = true;
	return 1;
}

/* A proxy removes the fields that Connection names: ours, or those that tell where a body ends. So
 * only known words pass, and the field is written anew. */
static int
take_connection(struct request *r, struct head *head, struct text value, struct err *e)
{
	static const char *const known[] = { "close", "keep-alive", "upgrade", "te",
		"http2-settings", "" };

	(void)r;
	while (value.at != NULL) {
		struct text word = trim(cut(&value, ','));
		size_t i = 0;

		while (i < COUNT(known) && !is_word(word, known[i]))
			i++;
		if (i == COUNT(known))
			return refuse(e, "Connection names a field");
		head->close = head->close || i == 0;
	}
	return 0;
}

static int
drop(struct request *r, struct head *head, struct text value, struct err *e)
{
	(void)r;
	(void)head;
	(void)value;
	(void)e;
	return 0;
}

static int
refuse_trailer(struct request *r, struct head *head, struct text value, struct err *e)
{
	(void)r;
	(void)head;
	(void)value;
	return refuse(e, "fields behind a body");
}

/* take: 1: the field is passed on; 0: dropped; -1: the request is refused. */
static const struct rule {
	const char *name;
	int (*take)(struct request *, struct head *, struct text value, struct err *);
} rules[] = {
	{ "host", take_host },
	{ "content-length", take_length },
	{ "transfer-encoding", take_coding },
	{ "connection", take_connection },
	{ "trailer", refuse_trailer },
	{ "authorization", drop },   /* the program's own: replaced */
	{ "accept-encoding", drop }, /* replaced */
	{ "upgrade", drop },         /* the server answers as if nobody had asked */
	{ "http2-settings", drop },
	{ "te", drop },
	{ "keep-alive", drop },
	{ "proxy-connection", drop },
	{ "proxy-authorization", drop },
};

/* Some servers pass fields to programs as variables, in which "-" and "_" are the same. */
static bool
is_field(struct text name, const char *rule)
{
	size_t size = (size_t)(name.end - name.at);

	if (size != strlen(rule))
		return false;
	for (size_t i = 0; i < size; i++) {
		int c = name.at[i] == '_' ? '-' : tolower((unsigned char)name.at[i]);

		if (c != rule[i])
			return false;
	}
	return true;
}

static int
read_field(struct request *r, struct head *head, struct text line, struct err *e)
{
	struct text value = line, name = cut(&value, ':');
	size_t i = 0;
	int keep = 1;

	if (value.at == NULL || !is_token(name) || !is_clean(value))
		return refuse(e, "a field is not well-formed");
	value = trim(value);
	while (i < COUNT(rules) && !is_field(name, rules[i].name))
		i++;
	if (i < COUNT(rules) && memchr(name.at, '_', (size_t)(name.end - name.at)) != NULL)
		return refuse(e, "a field with a name that servers read differently");
	if (i < COUNT(rules))
		keep = rules[i].take(r, head, value, e);
	if (keep <= 0)
		return keep;
	put(r, name);
	put_words(r, ": ");
	put(r, value);
	put_words(r, "\r\n");
	return 0;
}

/* ---- the head ---- */

/* METHOD /target HTTP/1.1 */
static int
read_request_line(struct request *r, struct text line, struct err *e)
{
	struct text rest = line, method = cut(&rest, ' ');

	if (rest.at == NULL || !is_token(method) || !is_clean(line))
		return refuse(e, "the request line is not well-formed");

	struct text target = cut(&rest, ' ');

	if (rest.at == NULL || !is_word(rest, "HTTP/1.1") || memcmp(rest.at, "HTTP", 4) != 0)
		return refuse(e, "the version is not HTTP/1.1");
	if (is_word(method, "CONNECT") || is_word(method, "TRACE"))
		return refuse(e, "the methods CONNECT and TRACE are not for bound names");
	if (target.at == target.end || *target.at != '/')
		return refuse(e, "the target is not a path");
	for (const char *at = target.at; at < target.end; at++)
		if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f)
			return refuse(e, "the target has a character that is not ASCII");
	put(r, line);
	put_words(r, "\r\n");
	return 0;
}

static int
finish_head(struct request *r, const struct head *head, struct err *e)
{
	if (!head->host)
		return refuse(e, "no Host");
	if (head->length && head->coding)
		return refuse(e, "both Content-Length and Transfer-Encoding");
	put_words(r, "Authorization: ");
	put_words(r, r->value);
	put_words(r, "\r\nAccept-Encoding: identity\r\n");
	put_words(r, head->close ? "Connection: close\r\n\r\n" : "\r\n");
	r->chunked = head->coding;
	r->left = head->bytes;
	r->phase = head->coding      ? REQUEST_IN_SIZE
	           : head->bytes > 0 ? REQUEST_IN_BODY
	                             : REQUEST_IN_HEAD;
	return 0;
}

/* Up to the next CR LF. A bare one of both stays in the line, and is refused with it. */
static struct text
next_line(struct text *rest)
{
	const char *stop = memmem(rest->at, (size_t)(rest->end - rest->at), "\r\n", 2);
	struct text line = { rest->at, stop };

	must(stop != NULL); /* the head ends in one */
	rest->at = stop + 2;
	return line;
}

/* The head is whole, with the empty line. */
static int
read_head(struct request *r, struct err *e)
{
	struct text rest = { r->line, r->line + r->nline - 2 };
	struct head head = { 0 };

	if (read_request_line(r, next_line(&rest), e) < 0)
		return -1;
	while (rest.at < rest.end)
		if (read_field(r, &head, next_line(&rest), e) < 0)
			return -1;
	r->nline = 0;
	return finish_head(r, &head, e);
}

/* ---- lines ---- */

/* Adds bytes to the line until it ends so. Returns how many; *whole says whether it does. -1: it is
 * longer than that. */
static int
gather(struct request *r, struct text data, size_t room, const char *end, bool *whole)
{
	size_t n = 0, nend = strlen(end), size = (size_t)(data.end - data.at);

	*whole = false;
	while (n < size && !*whole) {
		if (r->nline == room)
			return -1;
		r->line[r->nline++] = data.at[n++];
		*whole = r->nline >= nend && memcmp(r->line + r->nline - nend, end, nend) == 0;
	}
	return (int)n;
}

static int
on_head(struct request *r, struct text data, struct err *e)
{
	bool whole;
	int n = gather(r, data, REQUEST_HEAD, "\r\n\r\n", &whole);

	if (n < 0)
		return refuse(e, "a head of more than 32 KiB");
	/* Without a line end in its first place, so that a stream of line ends is refused early. */
	if (r->line[0] == '\r' || r->line[0] == '\n')
		return refuse(e, "the request line is empty");
	return whole && read_head(r, e) < 0 ? -1 : n;
}

/* ---- bodies ---- */

static int
on_body(struct request *r, struct text data, struct err *e)
{
	size_t n = (size_t)(data.end - data.at);

	(void)e;
	n = n > r->left ? (size_t)r->left : n;
	n = n > PIECE ? PIECE : n;
	put(r, (struct text){ data.at, data.at + n });
	r->left -= n;
	if (r->left == 0)
		r->phase = r->chunked ? REQUEST_IN_BREAK : REQUEST_IN_HEAD;
	return (int)n;
}

/* Hexadecimal digits, and extensions that are dropped (RFC 9112, 7.1). */
static int
read_size(struct request *r, struct err *e)
{
	static const char hex[16] = "0123456789abcdef"; /* no text */
	struct text rest = { r->line, r->line + r->nline - 2 }, digits = cut(&rest, ';');
	size_t n = (size_t)(digits.end - digits.at);
	uint64_t size = 0;

	if (n == 0 || n > SIZE_DIGITS || (rest.at != NULL && !is_clean(rest)))
		return refuse(e, "the size of a chunk is not well-formed");
	for (const char *at = digits.at; at < digits.end; at++) {
		const char *digit = memchr(hex, tolower((unsigned char)*at), sizeof hex);

		if (digit == NULL)
			return refuse(e, "the size of a chunk is not a number");
		size = size << 4 | (uint64_t)(digit - hex);
	}
	put(r, digits);
	put_words(r, "\r\n");
	r->nline = 0;
	r->left = size;
	r->phase = size > 0 ? REQUEST_IN_BODY : REQUEST_IN_END;
	return 0;
}

static int
on_size(struct request *r, struct text data, struct err *e)
{
	bool whole;
	int n = gather(r, data, SIZE_LINE, "\r\n", &whole);

	if (n < 0)
		return refuse(e, "the size of a chunk is too long");
	return whole && read_size(r, e) < 0 ? -1 : n;
}

/* Behind a chunk: exactly CR LF. Behind the last one too, as fields there are refused. */
static int
on_line_end(struct request *r, struct text data, struct err *e)
{
	bool whole;
	int n = gather(r, data, 2, "\r\n", &whole);

	if (n < 0 || r->line[0] != '\r' || (r->nline == 2 && !whole))
		return refuse(e, "other bytes than a line end behind a chunk");
	if (!whole)
		return n;
	put_words(r, "\r\n");
	r->nline = 0;
	r->phase = r->phase == REQUEST_IN_END ? REQUEST_IN_HEAD : REQUEST_IN_SIZE;
	return n;
}

/* ---- the stream ---- */

void
request_open(struct request *r, const char *name, const char *value)
{
	must(strlen(name) < DOMAIN_NAME && strlen(value) < REQUEST_VALUE);
	r->name = name;
	r->value = value;
	r->phase = REQUEST_IN_HEAD;
	r->chunked = false;
	r->left = r->nline = r->nout = 0;
}

int
request_read(struct request *r, const char *data, size_t size, struct err *e)
{
	static int (*const phases[])(struct request *, struct text, struct err *) = {
		[REQUEST_IN_HEAD] = on_head,
		[REQUEST_IN_BODY] = on_body,
		[REQUEST_IN_SIZE] = on_size,
		[REQUEST_IN_BREAK] = on_line_end,
		[REQUEST_IN_END] = on_line_end,
	};

	must(r->nout == 0 && size > 0);
	return phases[r->phase](r, (struct text){ data, data + size }, e);
}

bool
request_is_between(const struct request *r)
{
	return r->phase == REQUEST_IN_HEAD && r->nline == 0;
}
