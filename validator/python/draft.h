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

/*
 * Each function repairs one kind of fault: it writes the repaired source to the empty *to, and the
 * edits to the report.  Returns false if there was nothing to repair; *to is then unusable.
 */
bool draft_unfence(const struct source *, struct draft *to, struct report *);
bool draft_characters(const struct source *, struct draft *to, struct report *);
bool draft_dedent(const struct source *, struct draft *to, struct report *);
/* Replaces tabs at the start of lines by spaces. */
bool draft_tabs(const struct source *, unsigned width, struct draft *to, struct report *);
