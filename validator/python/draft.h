/* SPDX-License-Identifier: Apache-2.0 */
/* draft.h - mends the text of code that does not parse. */
#pragma once

#include "validator/report.h"
#include "validator/source.h"

/* Text that grows; zeroed it is empty. */
struct draft {
	char *text; /* with a zero byte behind it, not counted */
	size_t size, room;
	bool failed; /* memory ran out */
};

void draft_add(struct draft *, const char *text, size_t size);
void draft_clear(struct draft *);

/*
 * Each writes source to the empty *to with one kind of fault mended, and the edits to the report.
 * False: there was nothing to mend, *to is of no use.
 */
bool draft_unfence(const struct source *, struct draft *to, struct report *);
bool draft_characters(const struct source *, struct draft *to, struct report *);
bool draft_dedent(const struct source *, struct draft *to, struct report *);
/* Tabs at the beginning of lines become spaces. */
bool draft_tabs(const struct source *, unsigned width, struct draft *to, struct report *);
