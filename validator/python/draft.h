/* SPDX-License-Identifier: Apache-2.0 */
/* draft.h - repairs the text of code that does not parse. */
#pragma once

#include "validator/report.h"
#include "validator/source.h"

/* A growing text; empty when zeroed. */
struct draft {
	char *text; /* followed by a zero byte, which is not counted */
	size_t size, room;
	bool failed; /* memory ran out */
};

void draft_add(struct draft *, const char *text, size_t size);
void draft_clear(struct draft *);

/* Where a reader of the text is. */
struct scan {
	char quote; /* of the open string, '#' in a comment, 0 outside */
	bool triple;
};

/* Returns how many bytes from `at` belong together; *scan is the state after them. */
size_t draft_step(struct scan *, const char *at);

/*
 * Each function repairs one kind of fault: it writes the repaired source to the empty *to, and the
 * edits to the report.  Returns false if there was nothing to repair; *to is then unusable.
 */
bool draft_unfence(const struct source *, struct draft *to, struct report *);
bool draft_characters(const struct source *, struct draft *to, struct report *);
bool draft_dedent(const struct source *, struct draft *to, struct report *);
/* Keeps the lines with a prompt of a console. */
bool draft_prompts(const struct source *, struct draft *to, struct report *);
/* Makes sentences comments. */
bool draft_prose(const struct source *, struct draft *to, struct report *);
bool draft_magics(const struct source *, struct draft *to, struct report *);
bool draft_words(const struct source *, struct draft *to, struct report *);
/* A literal of fixes.def, and what Python has for it. */
enum { DRAFT_LITERALS = 3 };
const char *draft_literal(size_t i, const char **to);
/* which: bits of those to replace. */
bool draft_literals(const struct source *, unsigned which, struct draft *to, struct report *);
/* Of the line where the parser expects it. */
bool draft_colon(const struct source *, size_t line, struct draft *to, struct report *);
bool draft_print(const struct source *, size_t line, struct draft *to, struct report *);
/* Closes brackets that are open at the end of the line where the first of them is. */
bool draft_bracket(const struct source *, size_t line, struct draft *to, struct report *);
/* Replaces tabs at the start of lines by spaces. */
bool draft_tabs(const struct source *, unsigned width, struct draft *to, struct report *);
