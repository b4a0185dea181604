/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document.h - JSON that was read with each digit of its numbers.
 *
 * A number that no double holds exactly is a real beyond all others, which stands for it: only
 * document_exact() tells what it is.
 */
#pragma once

#include "validator/schema/arena.h"

#include "common/codec/decimal.h"

#include <jansson.h>

struct document {
	json_t *value;
	struct arena digits;
	struct document_number *numbers;
};

/* A number as it was written. */
struct document_exact {
	struct decimal decimal;
	const char *text;
	size_t size;
};

/* invalid_argument, or limit_exceeded for a number with too many digits or too many arrays and
 * objects, which begin with the name. A document that could not be read is empty. */
int document_read(struct document *, const char *name, const void *data, size_t size, struct err *);
/* An empty document too. */
void document_free(struct document *);
/* NULL: the value is no number, or Jansson's number is exact. */
const struct document_exact *document_exact(const json_t *);
