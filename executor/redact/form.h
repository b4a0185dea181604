/* SPDX-License-Identifier: Apache-2.0 */
/* form.h - the forms in which output may contain a secret: itself, reversed, encoded, escaped. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

enum {
	FORM_MIN = 8,      /* bytes of a secret; shorter ones would match ordinary text */
	FORM_SMALL = 1024, /* longer secrets have no form that escapes every character */
	FORM_DUMPED = 256, /* longer secrets are not searched for in dumps */
};

enum form_kind {
	FORM_TEXT,
	FORM_CODED, /* may be wrapped at any place */
	FORM_LINE,  /* of a dump that has the bytes again as text, behind it in the same line */
};

struct form {
	struct blob text;
	enum form_kind kind;
};

struct forms {
	struct form *items;
	size_t count;
	size_t bytes; /* of all */
};

/* Adds the forms of a secret, and of its lines if it has several.  Some may be equal. */
int form_add(struct forms *, const void *secret, size_t size, struct err *);
/* Overwrites and frees. */
void form_clear(struct forms *);
