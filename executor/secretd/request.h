/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - reads a client's stream of HTTP/1.1 requests strictly, and writes it anew with the
 * bound name's Authorization (RFC 9110, 9112).
 *
 * What two servers could read differently is refused: then the header would go with a request that
 * nobody checked. Each request must name the bound host. TRACE is refused, because its answer is
 * the request's head. Answers are asked for without compression, so that echo.h finds the secret.
 */
#pragma once

#include "common/base/domain.h"

#include <stdint.h>

enum {
	REQUEST_HEAD = 32768, /* bytes of the head of one request */
	REQUEST_VALUE = 4096, /* of the value of Authorization, with a zero byte */
	/* A field of 4 bytes gains a space. */
	REQUEST_OUT = REQUEST_HEAD / 4 * 5 + REQUEST_VALUE + 128,
};

enum request_phase {
	REQUEST_IN_HEAD,
	REQUEST_IN_BODY,  /* `left` bytes of content or of a chunk */
	REQUEST_IN_SIZE,  /* the line with the size of a chunk */
	REQUEST_IN_BREAK, /* the line end behind a chunk */
	REQUEST_IN_END,   /* behind the last chunk */
};

struct request {
	const char *name;  /* borrowed: the bound host, in lower case */
	const char *value; /* borrowed: of Authorization */
	enum request_phase phase;
	bool chunked;
	uint64_t left;
	char line[REQUEST_HEAD]; /* of the head or of a chunk, until it is whole */
	size_t nline;
	char out[REQUEST_OUT]; /* for the server: the caller sends it and sets nout to 0 */
	size_t nout;
};

void request_open(struct request *, const char *name, const char *value);
/* Reads a part of data, and writes to out, which is empty before. Returns how many bytes were read:
 * at least 1. -1: refused; *e says why in words that a log may have, and out is to be dropped. */
int request_read(struct request *, const char *data, size_t size, struct err *);
/* Is the stream between two requests? */
bool request_is_between(const struct request *);
