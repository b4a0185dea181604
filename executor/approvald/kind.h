/* SPDX-License-Identifier: Apache-2.0 */
/* kind.h - the kinds of approvals: what a person can be asked for. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

enum {
	KIND_SUBJECT = 301, /* bytes with the zero byte, as schema.def's approval allows */
	KIND_QUESTION = 1600,
};

struct approval_kind_row {
	enum event requested, approved, denied, revoked;
	const char *wish; /* "A program wants to ... SUBJECT" */
	/* Writes the one canonical form of the subject; two subjects mean the same if and only if
	 * their forms are equal. */
	int (*check)(const char *subject, char canonical[KIND_SUBJECT], struct err *);
};

const struct approval_kind_row *kind_row(int kind);
/* The question to a person.  It has the subject as it is stored, and marks the reason as the
 * model's own words, which are made printable and end last. */
void kind_question(const struct approval *, char text[KIND_QUESTION]);
