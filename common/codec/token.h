/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.h - a msgpack reader, one token at a time.
 *
 * Nothing is allocated or copied, and each length is checked against the available bytes. Of an
 * array or map only the announced number of entries is known, which may be false.
 */
#pragma once

#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>

enum token_type {
	TOKEN_OTHER, /* nil, bin, ext, float32: not used by the schema */
	TOKEN_UINT,
	TOKEN_INT, /* below zero */
	TOKEN_REAL,
	TOKEN_FLAG,
	TOKEN_STR,
	TOKEN_ARRAY,
	TOKEN_MAP,
};

struct token {
	enum token_type type;
	/* A number as its bits; the size of a string; the number of entries of an array or a map.
	 */
	uint64_t n;
	const char *text; /* of a string: in the source, without a terminating zero byte */
};

struct token_source {
	const uint8_t *at, *end;
};

/* Reads one token and advances; -1 with *e if the input ends early. */
int token_read(struct token_source *, struct token *, struct err *);
