/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.h - msgpack, one token after the other.
 *
 * Nothing is allocated or copied, and no length is believed before the bytes are there; of an array
 * or map only how many entries it announces is known, and that may be a lie.
 */
#pragma once

#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>

enum token_type {
	TOKEN_OTHER, /* nil, bin, ext, float32: the schema has no use for them */
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
	/* The number, as bits; of a string its bytes; of an array or a map its entries. */
	uint64_t n;
	const char *text; /* of a string, in the source, without a zero byte */
};

struct token_source {
	const uint8_t *at, *end;
};

/* Reads one and moves on; -1 with *e if it ends early. */
int token_read(struct token_source *, struct token *, struct err *);
