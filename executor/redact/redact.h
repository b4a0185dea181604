/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h - replaces secrets in output by ***REDACTED***, in every form of form.h.
 *
 * Adjacent and overlapping secrets become one mark.  Terminal control sequences (ESC [ ...) within
 * a secret do not hide it.  What only a program can undo is not found: a cipher, compression, parts
 * printed apart, other alphabets.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#define REDACT_MARK "***REDACTED***"

enum {
	REDACT_MAX_BYTES = 65536, /* of all secrets together */
};

struct redact;

/* For these secrets; they may be cleared afterwards.  NULL with *e. */
struct redact *redact_new(const struct blob *secrets, size_t count, struct err *);
/* One more user, who calls redact_free(), too; NULL is allowed. */
struct redact *redact_share(struct redact *);
/* Overwrites and frees after the last user; NULL is allowed. */
void redact_free(struct redact *);

/* Output in parts.  Zeroed, and then `of` set: the start; of NULL: nothing is redacted. */
struct redact_stream {
	const struct redact *of;

	/* redact.c's own. */
	uint32_t state;
	enum { REDACT_TEXT, REDACT_ESCAPE, REDACT_CONTROL } control;
	struct blob held; /* bytes that may be part of a secret; size: room */
	uint8_t *skipped; /* of each of them: is it part of a control sequence? */
	size_t front, end;
	uint64_t seen, first; /* bytes without control sequences: all; number of the first held */
	struct redact_span {
		uint64_t from, until;
	} * spans; /* found secrets among the held bytes */
	size_t nspans, span_room;
	bool line;   /* the rest of this line is a secret */
	bool stars;  /* see redact_mask() */
	bool marked; /* the last thing written is a mark */
	bool failed; /* no memory: nothing more is written */
};

/* Appends to *to, zeroed at first, what may be written now.  -1: no memory; the part is lost, and
 * so are all later ones. */
int redact_feed(struct redact_stream *, const void *data, size_t size, struct blob *to);
/* The stream ends: appends the rest, and clears the stream.  -1: as above. */
int redact_end(struct redact_stream *, struct blob *to);

/* A whole text, in place; followed by a zero byte that is not counted.  Without memory it becomes
 * empty. */
void redact_blob(const struct redact *, struct blob *);
/* The same for a C string from malloc; it becomes NULL without memory. */
void redact_text(const struct redact *, char **text);
/* The same with an asterisk for each byte of a secret, so that the size stays.  Returns whether
 * there was one.  It may run in a thread. */
bool redact_mask(const struct redact *, struct blob *);
/* Does the text contain a secret? */
bool redact_finds(const struct redact *, const char *text);
